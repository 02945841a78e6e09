// The Pod object that stands for a process which no pod has started. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/clock.hpp"
#include "base/json.hpp"

namespace plim::local::cluster {

inline constexpr std::string_view kMirrorNamespace = "kube-system";
inline constexpr std::string_view kMirrorAnnotation = "kubernetes.io/config.mirror";

struct MirrorPod {
  std::string name;                  // "kube-scheduler-n1"
  std::string node, address;         // where it runs, as far as the cluster knows
  std::string container;             // "kube-scheduler"
  std::string tier;                  // a label, as kubeadm's static pods have it: "control-plane"
  std::vector<std::string> command;  // all words
  std::string log;                   // the file that its output is appended to
};

// Changes with what a person would call another pod.
std::string hash_of(const MirrorPod& pod);

// Without its status. As a kubelet makes it of a static pod: owned by its node, and no taint drives
// it away.
json::value make_mirror_pod(const MirrorPod& pod, std::string_view image, std::string_view node_uid,
                            WallTime seen);

}  // namespace plim::local::cluster
