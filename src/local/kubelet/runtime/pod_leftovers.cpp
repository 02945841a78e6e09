#include "local/kubelet/runtime/pod_leftovers.hpp"

#include <string_view>
#include <utility>

#include "base/rfc3339.hpp"
#include "kube/paths.hpp"
#include "local/kubelet/shim/shim_client.hpp"

namespace plim::local::kubelet {

namespace {

RunFacts facts_of_terminated(const json::value& state) {
  RunFacts out;
  std::string_view id = kube::text_at(state, "ContainerStateTerminated.containerID");
  if (const auto slashes = id.find("://"); slashes != id.npos) id.remove_prefix(slashes + 3);
  out.id = id;
  out.exit_code =
      static_cast<int>(kube::int_at(state, "ContainerStateTerminated.exitCode").value_or(0));
  out.signal = static_cast<int>(kube::int_at(state, "ContainerStateTerminated.signal").value_or(0));
  out.reason = kube::text_at(state, "ContainerStateTerminated.reason");
  out.message = kube::text_at(state, "ContainerStateTerminated.message");
  out.started = parse_rfc3339(kube::text_at(state, "ContainerStateTerminated.startedAt"))
                    .value_or(WallTime());
  out.finished = parse_rfc3339(kube::text_at(state, "ContainerStateTerminated.finishedAt"))
                     .value_or(WallTime());
  return out;
}

// Calls `use` with the facts and the status of every container that has both.
template <class Use>
void for_each_status(const json::value& pod, PodFacts& facts, Use use) {
  const auto use_list = [&](kube::ListPath list, std::vector<ContainerFacts>& containers) {
    for (const json::value& status : kube::list_at(pod, list))
      for (ContainerFacts& container : containers)
        if (container.name == kube::text_at(status, "ContainerStatus.name")) use(container, status);
  };
  use_list("Pod.status.initContainerStatuses", facts.init);
  use_list("Pod.status.containerStatuses", facts.containers);
}

}  // namespace

std::optional<PodLeftovers> find_leftovers(const PodFiles& files) {
  auto note = files.read_note();
  if (!note) return std::nullopt;
  auto shim = read_shim_state(files.directory());
  if (!shim) return std::nullopt;
  return PodLeftovers{std::move(*note), std::move(*shim)};
}

void restore_ended(const json::value& pod, PodFacts& facts) {
  for_each_status(pod, facts, [](ContainerFacts& container, const json::value& status) {
    const json::value* ended = kube::find(status, "ContainerStatus.state.terminated");
    if (ended == nullptr) return;
    container.run = facts_of_terminated(*ended);
    container.run->restart =
        static_cast<int>(kube::int_at(status, "ContainerStatus.restartCount").value_or(0));
  });
}

std::vector<std::string> restore_readiness(const json::value& pod, PodFacts& facts) {
  std::vector<std::string> out;
  for_each_status(pod, facts, [&](ContainerFacts& container, const json::value& status) {
    if (!container.running()) return;
    container.started = kube::bool_at(status, "ContainerStatus.started");
    container.ready = kube::bool_at(status, "ContainerStatus.ready");
    out.push_back(container.name);
  });
  return out;
}

}  // namespace plim::local::kubelet
