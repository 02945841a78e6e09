// Options of one process node.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace plim::local::kubelet {

enum class Isolation {
  automatic,  // namespaces and mounts if this process may create them
  none,
};

// Why a node ends the processes of its pods.
enum class Shutdown {
  for_good,       // the node is removed, and its pods fail
  until_restart,  // like a power cycle: the node returns and restarts its pods
};

struct NodeTaint {
  std::string key, effect;
};

struct NodeOptions {
  std::string name;  // "n1"
  int index = 1;     // 127.32.INDEX.1
  // The directory of pods, volumes and logs: NAME/pods and claims are below it.
  std::string state_dir;
  // Sockets of device plugins and the like; pods find it at /var/lib/kubelet. "": not there.
  std::string kubelet_dir = {};
  // The command that starts a pod's shim when the pod's directory is appended.
  std::vector<std::string> shim = {"/proc/self/exe", "pod-shim"};
  // Our own binary, the entry point of the built-in images. "": the current program.
  std::string program = {};
  // Of Plimsoll. The kubelet version becomes v1.37.0+plimsoll.VERSION.
  std::string version = "0.0.0";
  std::uint16_t kubelet_port = 10250;

  std::int64_t milli_cpus = 0;         // 0: all CPUs of this machine
  std::int64_t memory_bytes = 0;       // 0: all
  std::int64_t ephemeral_storage = 0;  // 0: the size of the file system of state_dir
  int max_pods = 110;
  int max_images = 50;  // in the node's status, -1: all
  bool shared_host = true;
  std::vector<std::pair<std::string, std::string>> labels = {};
  std::vector<NodeTaint> taints = {};  // of a new Node object; later only users change them

  // For pods that use the API; "" for none.
  std::string api_url = {};  // "https://127.0.0.1:7443"
  std::string api_ca_pem = {};

  Isolation isolation = Isolation::automatic;
  bool annotate_runs = false;  // writes exact times to an annotation of the pod
};

}  // namespace plim::local::kubelet
