// The state that the parts of one pod's worker share.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.hpp"
#include "base/event.hpp"
#include "base/json.hpp"
#include "base/task.hpp"
#include "kube/client.hpp"
#include "local/kubelet/runtime/pod_context.hpp"
#include "local/kubelet/runtime/pod_facts.hpp"
#include "local/kubelet/runtime/pod_files.hpp"
#include "local/kubelet/runtime/worker_phase.hpp"

namespace plim::local::kubelet {

// The worker owns it and destroys it last. Belongs to the node's loop; co_await tasks.stop() before
// destroying it.
struct PodState {
  PodState(PodContext& context, json::value pod);

  // Stores the newest object. Does not wake any part.
  void take(json::value fresh);
  // The node has accepted the pod with the resources that it asks for.
  void allocate();
  void want(PodWish more);
  // Wakes every part that waits for a change.
  void note_change();
  // Waits until the next change or `until`; SteadyTime::max(): no limit.
  Task<void> wait_until(SteadyTime until);

  void begin_at(WallTime time);
  SteadyTime deadline() const;  // by activeDeadlineSeconds
  Nanos grace() const;          // terminationGracePeriodSeconds

  ContainerFacts* find_facts(std::string_view container);
  // Null unless the container's current run is `id`.
  const ContainerFacts* find_running(std::string_view container, std::string_view id);
  json::value spec_of(std::string_view container) const;
  bool is_init(std::string_view container) const;
  std::int64_t generation() const;
  std::string full_name() const;  // "name_namespace(uid)", the format of kubelets
  kube::ObjectPath path(std::string subresource = {}) const;

  PodContext& node;
  // As last received from the API. The resources of containers are those that the node has
  // allocated; `wanted` has those of the API, by container.
  json::value object;
  json::object wanted;
  const std::string uid;
  PodFiles files;
  PodFacts facts;
  PodWish wish = PodWish::run;
  std::optional<SteadyTime> began;  // facts.start_time on the steady clock
  std::uint64_t changes = 0;        // how often note_change() was called
  Event changed;
  TaskGroup tasks;
};

}  // namespace plim::local::kubelet
