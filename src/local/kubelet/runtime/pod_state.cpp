#include "local/kubelet/runtime/pod_state.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "kube/object.hpp"
#include "kube/paths.hpp"
#include "local/kubelet/nodes/pod_limits.hpp"
#include "local/kubelet/runtime/pod_resources.hpp"

namespace plim::local::kubelet {

PodState::PodState(PodContext& context, json::value pod)
    : node(context),
      object(std::move(pod)),
      wanted(resources_of(object)),
      uid(kube::uid_of(object)),
      files(context.pod_directory(uid)),
      changed(context.loop),
      tasks(context.loop) {
  facts.host_ip = context.addresses.node();
  facts.init = init_containers_of(object);
  facts.containers = containers_of(object);
  if (kube::is_being_deleted(object)) want(PodWish::remove);
}

void PodState::take(json::value fresh) {
  wanted = resources_of(fresh);
  object = with_resources(std::move(fresh), facts.allocated);
  if (kube::is_being_deleted(object)) want(PodWish::remove);
}

void PodState::allocate() {
  facts.allocated = wanted;
  facts.actuated = wanted;
  object = with_resources(std::move(object), wanted);
}

void PodState::want(PodWish more) {
  wish = std::max(wish, more);
}

void PodState::note_change() {
  ++changes;
  changed.notify();
}

Task<void> PodState::wait_until(SteadyTime until) {
  if (until == SteadyTime::max()) {
    co_await changed.wait();
  } else {
    co_await changed.wait_until(node.clock, until);
  }
}

void PodState::begin_at(WallTime time) {
  facts.start_time = time;
  const Nanos passed = std::max(Nanos::zero(), node.clock.wall() - time);
  began = node.clock.steady() - passed;
}

SteadyTime PodState::deadline() const {
  const auto seconds = kube::int_at(object, "Pod.spec.activeDeadlineSeconds");
  if (!seconds || !began) return SteadyTime::max();
  return *began + std::chrono::seconds(*seconds);
}

Nanos PodState::grace() const {
  return std::chrono::seconds(
      kube::int_at(object, "Pod.spec.terminationGracePeriodSeconds").value_or(30));
}

ContainerFacts* PodState::find_facts(std::string_view container) {
  for (auto* list : {&facts.init, &facts.containers})
    for (ContainerFacts& one : *list)
      if (one.name == container) return &one;
  return nullptr;
}

const ContainerFacts* PodState::find_running(std::string_view container, std::string_view id) {
  const ContainerFacts* found = find_facts(container);
  return found != nullptr && found->running() && found->run->id == id ? found : nullptr;
}

json::value PodState::spec_of(std::string_view container) const {
  const json::value* found = find_container(object, container);
  return found != nullptr ? *found : json::value(json::object());
}

bool PodState::is_init(std::string_view container) const {
  return std::ranges::any_of(facts.init,
                             [&](const ContainerFacts& one) { return one.name == container; });
}

std::int64_t PodState::generation() const {
  return kube::int_at(object, "Pod.metadata.generation").value_or(0);
}

std::string PodState::full_name() const {
  return fmt::format("{}_{}({})", kube::name_of(object), kube::namespace_of(object), uid);
}

kube::ObjectPath PodState::path(std::string subresource) const {
  return {std::string(kube::namespace_of(object)), std::string(kube::name_of(object)),
          std::move(subresource)};
}

}  // namespace plim::local::kubelet
