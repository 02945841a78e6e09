// How one process node is set up.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace plim::local::kubelet {

enum class Isolation {
  automatic,  // namespaces and mounts where this process may make them
  none,
};

// Why a node ends the processes of its pods.
enum class Shutdown {
  for_good,       // it goes, and they have failed
  until_restart,  // as a machine that is switched off: it comes back and starts them again
};

struct NodeTaint {
  std::string key, effect;
};

struct NodeOptions {
  std::string name;  // "n1"
  int index = 1;     // 127.32.INDEX.1
  // Where pod directories, volumes and logs lie; NAME/pods and claims below it.
  std::string state_dir;
  // Starts a pod's shim, once the pod's directory is appended.
  std::vector<std::string> shim = {"/proc/self/exe", "pod-shim"};
  // Our own binary, the entry point of the images that come with it. "": this one.
  std::string program = {};
  std::string version = "0.0.0";  // ours; the kubelet's becomes v1.34.0+plimsoll.VERSION
  std::uint16_t kubelet_port = 10250;

  std::int64_t milli_cpus = 0;         // 0: all of this machine's
  std::int64_t memory_bytes = 0;       // 0: all
  std::int64_t ephemeral_storage = 0;  // 0: what the file system of state_dir holds
  int max_pods = 110;
  int max_images = 50;  // in the node's status, -1: all
  bool shared_host = true;
  std::vector<std::pair<std::string, std::string>> labels = {};
  std::vector<NodeTaint> taints = {};  // when its object is made; they are people's from then on

  // For pods that speak with the API; "" for none.
  std::string api_url = {};  // "https://127.0.0.1:7443"
  std::string api_ca_pem = {};

  Isolation isolation = Isolation::automatic;
  bool annotate_runs = false;  // exact times as an annotation of the pod
};

}  // namespace plim::local::kubelet
