#include "local/kubelet/runtime/pod_facts.hpp"

#include <string_view>

#include "kube/paths.hpp"
#include "local/kubelet/nodes/pod_limits.hpp"

namespace plim::local::kubelet {

namespace {

constexpr kube::ListPath kInitContainers = "Pod.spec.initContainers";

std::vector<ContainerFacts> facts_of(const json::value& pod, kube::ListPath list) {
  std::vector<ContainerFacts> out;
  for (const json::value& container : kube::list_at(pod, list)) {
    ContainerFacts facts{.name = std::string(kube::text_at(container, "Container.name")),
                         .image = std::string(kube::text_at(container, "Container.image"))};
    facts.sidecar = list.keys() == kInitContainers.keys() && is_sidecar(container);
    out.push_back(std::move(facts));
  }
  return out;
}

}  // namespace

RestartPolicy restart_policy_of(const json::value& pod) {
  const std::string_view text = kube::text_at(pod, "Pod.spec.restartPolicy");
  if (text == "Never") return RestartPolicy::never;
  return text == "OnFailure" ? RestartPolicy::on_failure : RestartPolicy::always;
}

std::vector<ContainerFacts> init_containers_of(const json::value& pod) {
  return facts_of(pod, kInitContainers);
}

std::vector<ContainerFacts> containers_of(const json::value& pod) {
  return facts_of(pod, "Pod.spec.containers");
}

}  // namespace plim::local::kubelet
