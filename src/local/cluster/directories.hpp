// Where a local cluster keeps its files, and which process holds it.
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

// Plain values; no directory is created before make_private().
struct ClusterDirectories {
  std::string name;
  std::string state;  // survives a restart: store, keys, kubeconfigs, pods with their logs
  std::string run;    // sockets and the pid lock; short, since a socket's path holds 107 bytes

  std::string store() const { return state + "/store"; }

  std::string keys() const { return state + "/pki"; }

  std::string kubeconfig() const { return state + "/kubeconfig"; }

  std::string endpoints() const { return state + "/endpoints.json"; }

  std::string nodes() const { return state + "/nodes"; }  // pods with their logs and volumes

  std::string log() const { return state + "/plimsoll.log"; }

  std::string lock() const { return run + "/lock"; }

  std::string control_socket() const { return run + "/control.sock"; }

  std::string running() const { return run + "/cluster.json"; }  // names the state directory

  // Laid out as a kubelet's directory.
  std::string node(std::string_view node) const { return run + "/" + std::string(node); }

  // Where the container runtime of a node listens. On a real node: /run/containerd/containerd.sock.
  std::string runtime_socket(std::string_view name_of_node) const {
    return node(name_of_node) + "/containerd/containerd.sock";
  }

  // The files of a node that differ from those of this machine, by their path on the node.
  std::string host(std::string_view node) const {
    return nodes() + "/" + std::string(node) + "/host";
  }
};

// By the rules of the environment (XDG_STATE_HOME, XDG_RUNTIME_DIR, HOME), or with the state in
// `directory`. Finds a running cluster of this name wherever its files are. Rejects directories
// that others can change: their files would say which process `down` ends and what `reset` removes.
Result<ClusterDirectories> find_directories(std::string_view name, std::string_view directory,
                                            const kube::GetEnv& env);
// Clusters that run or have files in the default place, sorted by name.
std::vector<ClusterDirectories> known_clusters(const kube::GetEnv& env);

// Creates the directory with its parents, readable only by us. Rejects one that belongs to another
// user or that others may write to: it holds keys and the programs of pods.
Result<void> make_private(const std::string& path);

// The process that holds the lock, a file in a private directory; none if no process does.
std::optional<pid_t> holder_of(const std::string& lock);
// Code::already_exists when another process holds it; the message has its pid.
Result<FileLock> take_lock(const ClusterDirectories& directories);

}  // namespace plim::local::cluster
