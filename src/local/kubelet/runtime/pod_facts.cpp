#include "local/kubelet/runtime/pod_facts.hpp"

#include <string_view>

#include "local/kubelet/nodes/pod_limits.hpp"

namespace plim::local::kubelet {

namespace {

std::vector<ContainerFacts> facts_of(const json::value& pod, std::string_view list) {
  std::vector<ContainerFacts> out;
  for (const json::value& container : list_at(pod, {"spec", list})) {
    ContainerFacts facts{.name = std::string(text_at(container, {"name"})),
                         .image = std::string(text_at(container, {"image"}))};
    facts.sidecar = list == "initContainers" && is_sidecar(container);
    out.push_back(std::move(facts));
  }
  return out;
}

}  // namespace

RestartPolicy restart_policy_of(const json::value& pod) {
  const std::string_view text = text_at(pod, {"spec", "restartPolicy"});
  if (text == "Never") return RestartPolicy::never;
  return text == "OnFailure" ? RestartPolicy::on_failure : RestartPolicy::always;
}

std::vector<ContainerFacts> init_containers_of(const json::value& pod) {
  return facts_of(pod, "initContainers");
}

std::vector<ContainerFacts> containers_of(const json::value& pod) {
  return facts_of(pod, "containers");
}

}  // namespace plim::local::kubelet
