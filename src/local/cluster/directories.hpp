// Where a local cluster keeps its files, and who holds it at the moment.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <vector>

#include "base/files.hpp"
#include "base/result.hpp"
#include "kube/config.hpp"

namespace plim::local::cluster {

// Plain values; nothing is made before make_private().
struct ClusterDirectories {
  std::string name;
  std::string state;  // survives: store, keys, kubeconfigs, pods with their logs
  std::string run;    // sockets and the pid lock; short, since a socket's path holds 107 bytes

  std::string store() const { return state + "/store"; }

  std::string keys() const { return state + "/pki"; }

  std::string kubeconfig() const { return state + "/kubeconfig"; }

  std::string endpoints() const { return state + "/endpoints.json"; }

  std::string nodes() const { return state + "/nodes"; }  // pods with their logs and volumes

  std::string log() const { return state + "/plimsoll.log"; }

  std::string lock() const { return run + "/lock"; }

  std::string control_socket() const { return run + "/control.sock"; }

  std::string running() const { return run + "/cluster.json"; }  // where its state is, if elsewhere

  // Laid out as a kubelet's directory.
  std::string node(std::string_view node) const { return run + "/" + std::string(node); }
};

// By the rules of the environment (XDG_STATE_HOME, XDG_RUNTIME_DIR, HOME), or with the state in
// `directory`. A cluster of this name that runs, wherever its files are, is found.
Result<ClusterDirectories> find_directories(std::string_view name, std::string_view directory,
                                            const kube::GetEnv& env);
// Those that run and those whose files are in the usual place, by name.
std::vector<ClusterDirectories> known_clusters(const kube::GetEnv& env);

// Makes the directory with its parents for nobody but us. One that belongs to another user or that
// others may write to is refused: keys and programs of pods lie there.
Result<void> make_private(const std::string& path);

// The process that holds the lock; none: nobody does.
std::optional<pid_t> holder_of(const std::string& lock);
// Code::already_exists when another process holds it; the message has its pid.
Result<FileLock> take_lock(const ClusterDirectories& directories);

}  // namespace plim::local::cluster
