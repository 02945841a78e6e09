#include "local/cluster/usage_metrics.hpp"

#include <map>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "base/rfc3339.hpp"
#include "kube/object.hpp"
#include "kube/paths.hpp"
#include "local/apiserver/api/object_bytes.hpp"
#include "local/apiserver/api/response_output.hpp"

namespace plim::local::cluster {
namespace {

json::object amounts(std::uint64_t nano_cores, const node::CgroupUsage& used) {
  return {{"cpu", fmt::format("{}n", nano_cores)},
          {"memory", fmt::format("{}Ki", used.working_set_bytes / 1024)}};
}

json::object metrics_of(const json::value& object, WallTime at, WallTime now) {
  json::object metadata{{"name", kube::name_of(object)},
                        {"creationTimestamp", format_rfc3339(now)}};
  if (const std::string_view ns = kube::namespace_of(object); !ns.empty())
    metadata["namespace"] = ns;
  if (const json::value* labels = kube::find(object, "Object.metadata.labels"))
    metadata["labels"] = *labels;
  return {{"metadata", std::move(metadata)},
          {"timestamp", format_rfc3339(at)},
          {"window", fmt::format("{}s", kubelet::UsageSampler::kWindow / std::chrono::seconds(1))}};
}

}  // namespace

Task<apiserver::ApiResult<net::Reply>> UsageMetrics::answer(apiserver::CallPtr call) {
  const apiserver::Kind& kind = call->kind();
  const apiserver::ResourcePath& target = call->target;
  const bool of_nodes = kind.kind == "NodeMetrics";
  kube::ListOptions which{.ns = target.ns,
                          .label_selector = std::string(call->query.text("labelSelector")),
                          .field_selector = std::string(call->query.text("fieldSelector"))};
  if (!target.name.empty()) which.field_selector = "metadata.name=" + target.name;
  const kube::Resource& resource = of_nodes ? kube::resources::nodes : kube::resources::pods;
  auto listed = co_await client_->list(resource, std::move(which));
  if (!listed) co_return std::move(listed).error();
  const json::array items = of_nodes ? node_metrics(*listed) : pod_metrics(*listed);
  if (!target.name.empty()) {
    if (items.empty()) co_return not_found(kind, target.name);
    co_return object_reply(*call, 200, kind, encode_object(kind, items[0], 0), clock_.wall());
  }
  apiserver::ListResult out;
  for (const json::value& item : items) {
    auto bytes = std::make_shared<const std::string>(encode_object(kind, item, 0));
    out.entries.push_back(
        std::make_shared<const store::Entry>(store::Entry{.key = {}, .value = std::move(bytes)}));
  }
  co_return list_reply(*call, out, clock_.wall());
}

json::array UsageMetrics::node_metrics(const json::value& nodes) {
  json::array out;
  for (const json::value& node : kube::list_at(nodes, "ObjectList.items")) {
    auto usage = usage_(kube::name_of(node));
    if (!usage) continue;
    json::object item = metrics_of(node, usage->at, clock_.wall());
    item["usage"] = amounts(usage->nano_cores, usage->used);
    out.push_back(std::move(item));
  }
  return out;
}

json::array UsageMetrics::pod_metrics(const json::value& pods) {
  std::map<std::string, std::optional<node::NodeUsage>, std::less<>> nodes;  // each is asked once
  json::array out;
  for (const json::value& pod : kube::list_at(pods, "ObjectList.items")) {
    const std::string node(kube::text_at(pod, "Pod.spec.nodeName"));
    auto [known, added] = nodes.try_emplace(node);
    if (added) known->second = usage_(node);
    if (!known->second) continue;
    for (const node::PodUsage& used : known->second->pods) {
      if (used.uid != kube::uid_of(pod) || used.containers.empty()) continue;
      json::array containers;
      for (const node::ContainerUsage& one : used.containers)
        containers.push_back(
            json::object{{"name", one.name}, {"usage", amounts(one.nano_cores, one.used)}});
      json::object item = metrics_of(pod, known->second->at, clock_.wall());
      item["containers"] = std::move(containers);
      out.push_back(std::move(item));
    }
  }
  return out;
}

}  // namespace plim::local::cluster
