// The Kubernetes objects that our roles read in bulk, as small structs. They have only the fields
// that are used, and texts that repeat are interned. kube/decode.hpp fills them; writing goes
// through JSON.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "kube/interned.hpp"

namespace plim::kube {

using Labels = std::vector<std::pair<Interned, Interned>>;
using Annotations = std::vector<std::pair<Interned, std::string>>;
using ResourceList = std::vector<std::pair<Interned, Interned>>;  // name, and quantity as text

struct Owner {
  Interned api_version, kind, name;
  std::string uid;
  bool controller = false;
  bool block_owner_deletion = false;
};

struct ObjectMeta {
  std::string name;
  Interned ns;
  std::string uid;
  std::string resource_version;  // opaque
  Labels labels;
  Annotations annotations;
  std::vector<Owner> owners;
  std::vector<Interned> finalizers;
  std::int64_t generation = 0;
  std::optional<WallTime> created, deleted;
};

struct Condition {
  Interned type, status, reason;
  std::string message;
  std::optional<WallTime> last_transition;
};

struct Container {
  Interned name, image, image_pull_policy;
  ResourceList requests, limits;
  Interned restart_policy;  // "Always" marks a sidecar among the init containers
  Interned ports;           // JSON as received; only Services with named ports need it
};

// Only volumes that limit where a pod can run are kept. Most volumes carry configuration.
struct PodVolume {
  Interned name;
  Interned claim;          // of a PersistentVolumeClaim; an ephemeral one is named after the pod
  bool ephemeral = false;  // the claim is made from a template: "<pod>-<volume>"
  Interned image;          // of an image volume
  Interned disk;           // in-tree disks: {"gcePersistentDisk": …} as received
};

struct PodSpec {
  Interned node_name, scheduler_name, restart_policy, priority_class, service_account, subdomain;
  std::string hostname;
  std::int64_t priority = 0;
  bool host_network = false;
  bool host_users = true;
  // Features that the node must declare: a restart rule with the action RestartAllContainers, and
  // options of a bind mount.
  bool restarts_all_containers = false, bind_mount_options = false;
  std::vector<Container> containers, init_containers;
  ResourceList requests, limits;  // of the pod as a whole
  ResourceList overhead;
  Interned preemption_policy;
  std::vector<PodVolume> volumes;
  // JSON as received, "" if absent; only the scheduler reads it. Pods of one owner share the text.
  Interned node_selector, affinity, tolerations, topology_spread, scheduling_gates, resource_claims;
};

struct ContainerStatus {
  enum class State { unknown, waiting, running, terminated };

  struct Ended {
    std::int32_t exit_code = 0;
    std::int32_t signal = 0;
    Interned reason;
    std::optional<WallTime> started, finished;
  };

  Interned name, image, image_id;
  std::string container_id;
  State state = State::unknown;
  Interned waiting_reason;
  std::optional<WallTime> running_since;
  Ended terminated;                  // with State::terminated
  Ended last_terminated;             // of the previous run
  ResourceList requests, allocated;  // in force and allocated, while a resize is in progress
  bool reports_resources = false;
  std::int32_t restarts = 0;
  bool ready = false;
};

struct PodStatus {
  Interned phase, reason, qos_class, host_ip, nominated_node;
  std::string pod_ip;
  std::optional<WallTime> started;
  std::vector<Condition> conditions;
  std::vector<ContainerStatus> containers, init_containers;
  ResourceList requests, allocated;  // of the pod as a whole, as ContainerStatus has them
  bool reports_resources = false;
};

struct Pod {
  ObjectMeta meta;
  PodSpec spec;
  PodStatus status;
};

struct Taint {
  Interned key, value, effect;
};

struct NodeImage {
  std::vector<Interned> names;
  std::int64_t bytes = 0;
};

struct NodeAddress {
  Interned type;
  std::string address;
};

struct NodeInfo {
  Interned architecture, operating_system, kernel, os_image, container_runtime, kubelet;
  std::string machine_id, boot_id;
};

struct Node {
  ObjectMeta meta;
  Interned provider_id, pod_cidr;
  bool unschedulable = false;
  std::vector<Taint> taints;
  ResourceList capacity, allocatable;
  std::vector<NodeImage> images;
  std::vector<Condition> conditions;
  std::vector<NodeAddress> addresses;
  NodeInfo info;
  std::vector<Interned> declared_features;
};

}  // namespace plim::kube
