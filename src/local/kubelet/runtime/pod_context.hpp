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
  Event& freed;  // a pod's processes have gone, and what it held is free
  ProcessEvents* process_events = nullptr;
  std::string program;
  bool isolated = false;

  // The Node object as last written.
  std::function<json::value()> node;
  // The active pods this node has taken, without the one of this uid.
  std::function<std::vector<json::value>(const std::string& uid)> others;
  // Whether there is one that has been deleted by force, so that others take its place for free,
  // and that holds it nevertheless.
  std::function<bool()> leaving;
  // Nothing of this pod is left; the worker may be destroyed soon.
  std::function<void(const std::string& uid)> gone;

  std::string pod_directory(std::string_view uid) const;
  VolumeRoots volume_roots(std::string_view uid) const;
  PodPlace place(std::string pod_ip) const;
};

// Kills what is left of the pod and removes its cgroups; a process takes a moment to go.
Task<void> remove_cgroup(NodeCgroups* cgroups, json::value pod);

// Whether this process may make the namespaces containers get.
bool can_isolate();

}  // namespace plim::local::kubelet
