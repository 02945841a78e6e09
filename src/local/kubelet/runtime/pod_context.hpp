// What the pods of a node share.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/event.hpp"
#include "base/json.hpp"
#include "base/task.hpp"
#include "kube/client.hpp"
#include "kube/event_recorder.hpp"
#include "local/images/images.hpp"
#include "local/kubelet/nodes/cgroups.hpp"
#include "local/kubelet/nodes/devices.hpp"
#include "local/kubelet/runtime/node_options.hpp"
#include "local/kubelet/runtime/pod_addresses.hpp"
#include "local/kubelet/runtime/process_events.hpp"
#include "local/kubelet/runtime/volumes.hpp"

namespace plim::local::kubelet {

// Belongs to the node's loop and outlives its workers.
struct PodContext {
  Executor loop;
  std::shared_ptr<kube::Client> client;
  Clock& clock;
  images::NodeImages& images;
  NodeCgroups& cgroups;
  NodeDevices& devices;
  kube::EventRecorder& events;
  const NodeOptions& options;
  PodAddresses& addresses;
  Event& freed;  // notified when a pod's processes have ended and its resources are free
  ProcessEvents* process_events = nullptr;
  std::string program;
  bool isolated = false;

  // The Node object as last written.
  std::function<json::value()> node;
  // The active pods that this node has accepted, without the pod with this uid.
  std::function<std::vector<json::value>(const std::string& uid)> others;
  // True if a pod was deleted by force but its processes still run. The scheduler counts its
  // resources as free, and they are not.
  std::function<bool()> leaving;
  // Resources have become free: pods whose resize was deferred try again.
  std::function<void()> retry_resizes = [] {};
  // Nothing of this pod is left; its worker may be destroyed soon.
  std::function<void(const std::string& uid)> gone;

  std::string pod_directory(std::string_view uid) const;
  VolumeRoots volume_roots(std::string_view uid) const;
  PodPlace place(std::string pod_ip) const;
};

// Kills the remaining processes of the pod and removes its cgroups. Waits until they have ended.
Task<void> remove_cgroup(NodeCgroups* cgroups, json::value pod);

// True if this process may create the namespaces of containers.
bool can_isolate();

}  // namespace plim::local::kubelet
