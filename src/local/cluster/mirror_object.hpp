// The Pod object that represents a process which was not started as a pod. Pure.
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
  std::string node, address;         // the node the cluster shows it on
  std::string container;             // "kube-scheduler"
  std::string tier;                  // a label, as on kubeadm's static pods: "control-plane"
  std::vector<std::string> command;  // program and arguments
  std::string log;                   // the file that receives its output
};

// Differs if the two pods are different for a user.
std::string hash_of(const MirrorPod& pod);

// Has no status. Like the mirror pod of a kubelet: owned by its node, and tolerates every NoExecute
// taint.
json::value make_mirror_pod(const MirrorPod& pod, std::string_view image, std::string_view node_uid,
                            WallTime seen);

}  // namespace plim::local::cluster
