#include <algorithm>

#include <fmt/format.h>

#include "agent/pod_resources.hpp"
#include "agent/pods.hpp"
#include "kube/decode.hpp"
#include "kube/fields_decode.hpp"
#include "node/cgroup_names.hpp"

namespace plim::agent {
namespace {

// Reads spec.resources.requests, which kube::Pod does not have.
kube::ResourceList pod_level_requests(kube::JsonText pod, kube::InternPool& pool) {
  kube::ResourceList out;
  kube::JsonReader reader(&pool);
  auto on_resources = [&](std::string_view key) { return key != "requests" || reader.pairs(out); };
  auto on_spec = [&](std::string_view key) {
    return key != "resources" || reader.object(on_resources);
  };
  auto on_field = [&](std::string_view key) { return key != "spec" || reader.object(on_spec); };
  if (!reader.document(kube::object_tokens(), pod, on_field)) out.clear();
  return out;
}

std::string_view annotation(const kube::Pod& pod, std::string_view key) {
  for (const auto& [name, value] : pod.meta.annotations)
    if (name == key) return value;
  return {};
}

// The kubelet names cgroups of static pods by the hash of their file.
std::vector<std::string> uid_candidates(const kube::Pod& pod) {
  std::vector<std::string> out;
  const auto add = [&](std::string uid) {
    if (node::is_path_part(uid) && std::ranges::find(out, uid) == out.end())
      out.push_back(std::move(uid));
  };
  const std::array<std::string, 3> known{
      pod.meta.uid, std::string(annotation(pod, "kubernetes.io/config.hash")),
      std::string(annotation(pod, "kubernetes.io/config.mirror"))};
  for (const std::string& uid : known) add(uid);
  for (std::string uid : known) {
    std::erase(uid, '-');
    add(std::move(uid));
  }
  return out;
}

const kube::Interned* amount(const kube::ResourceList& list, std::string_view name) {
  for (const auto& [key, value] : list)
    if (key == name) return &value;
  return nullptr;
}

// Derives the QoS class as the API server does, for answers without it.
node::Qos derived_qos(const kube::Pod& pod) {
  bool any = false, all = true;
  for (const auto* containers : {&pod.spec.containers, &pod.spec.init_containers})
    for (const kube::Container& container : *containers)
      for (std::string_view name : {"cpu", "memory"}) {
        const auto* request = amount(container.requests, name);
        const auto* limit = amount(container.limits, name);
        any = any || request != nullptr || limit != nullptr;
        all = all && limit != nullptr && (request == nullptr || *request == *limit);
      }
  if (!any) return node::Qos::best_effort;
  return all ? node::Qos::guaranteed : node::Qos::burstable;
}

node::Qos qos_of(const kube::Pod& pod) {
  const auto said = node::parse_qos(pod.status.qos_class);
  return said ? *said : derived_qos(pod);
}

bool is_sidecar(const kube::PodSpec& spec, const kube::Interned& name) {
  auto found = std::ranges::find(spec.init_containers, name, &kube::Container::name);
  return found != spec.init_containers.end() && found->restart_policy == "Always";
}

void add_running(const kube::ContainerStatus& status, PodFacts& out) {
  if (status.state != kube::ContainerStatus::State::running || status.container_id.empty()) return;
  const std::size_t colon = status.container_id.find("://");
  PodContainer made{
      .name = std::string(status.name.view()),
      .runtime = colon == std::string::npos ? "" : status.container_id.substr(0, colon),
      .id =
          colon == std::string::npos ? status.container_id : status.container_id.substr(colon + 3)};
  if (node::is_path_part(made.id)) out.containers.push_back(std::move(made));
}

PodFacts facts_of(const kube::Pod& pod, const kube::ResourceList& pod_level,
                  std::vector<std::string>& mistakes) {
  PodFacts out{.uid = pod.meta.uid,
               .name = pod.meta.name,
               .ns = std::string(pod.meta.ns.view()),
               .host_ip = std::string(pod.status.host_ip.view()),
               .uid_candidates = uid_candidates(pod),
               .qos = qos_of(pod)};
  for (const auto& [key, value] : pod.meta.labels)
    out.labels.emplace_back(key.view(), value.view());
  for (const kube::ContainerStatus& status : pod.status.containers) add_running(status, out);
  for (const kube::ContainerStatus& status : pod.status.init_containers)
    if (is_sidecar(pod.spec, status.name)) add_running(status, out);
  out.all_ready = !pod.status.containers.empty() &&
                  std::ranges::all_of(pod.status.containers, &kube::ContainerStatus::ready);
  std::vector<std::string> odd;
  out.resources = resources_of(pod.spec, pod_level, odd);
  for (const std::string& what : odd)
    mistakes.push_back(fmt::format("pod {}/{}: {}", out.ns, out.name, what));
  return out;
}

}  // namespace

Result<PodsAnswer> decode_pod_list(std::string& body) {
  PodsAnswer out;
  kube::InternPool pool;
  bool any_list = body.find("\"items\"") != std::string::npos;
  auto visit = [&](kube::JsonText item) -> Result<void> {
    auto pod = kube::decode_pod(item, pool);
    if (!pod) {
      out.mistakes.push_back(fmt::format("skipped a pod: {}", pod.error().message));
      return {};
    }
    if (pod->meta.uid.empty() || pod->meta.name.empty() || pod->meta.ns.empty()) {
      out.mistakes.push_back("skipped a pod without uid, name or namespace");
      return {};
    }
    out.pods.push_back(facts_of(*pod, pod_level_requests(item, pool), out.mistakes));
    return {};
  };
  PLIM_CHECK(kube::decode_list(kube::JsonText(body), visit));
  if (!any_list) return fail(Code::invalid, "the answer is not a list of pods");
  return out;
}

}  // namespace plim::agent
