// The numbers behind a refusal.
#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/quantity.hpp"
#include "sched/explain.hpp"
#include "sched/pod_rules.hpp"

namespace plim::sched {
namespace {

std::string amount_text(ResourceId id, std::int64_t amount) {
  if (id == kCpu) return Quantity::from_milli(amount).to_string();
  if (id == kMemory || id == kEphemeral) return Quantity::from_bytes(amount).to_string();
  return std::to_string(amount);
}

std::string room_detail(const Engine& engine, const kube::Pod& pod, NodeIndex node) {
  const NodeTable& table = engine.cluster().table();
  ResourceNames names = table.resources();
  const PodRequests wanted = requests_of(pod, names);
  std::vector<std::string> out;
  if (table.pods()[node] + 1 > table.pod_limit()[node])
    out.push_back(
        fmt::format("pods: {} of {} are there", table.pods()[node], table.pod_limit()[node]));
  for (ResourceId id = 0; id < names.size(); ++id) {
    const std::int64_t asked = wanted.of(id);
    const std::int64_t* has = table.allocatable(id);
    const std::int64_t* used = table.requested(id);
    const std::int64_t all = has != nullptr ? has[node] : 0;
    const std::int64_t rest = all - (used != nullptr ? used[node] : 0);
    if (asked > 0 && asked > rest)
      out.push_back(fmt::format("{}: asks {}, {} of {} free", names.name(id),
                                amount_text(id, asked), amount_text(id, rest),
                                amount_text(id, all)));
  }
  return fmt::format("{}", fmt::join(out, "; "));
}

std::string taint_detail(const Engine& engine, const kube::Pod& pod, NodeIndex node) {
  NodeTable unused;
  RuleReader reader(unused);
  const auto tolerations = reader.tolerations(pod);
  const NodeTable& table = engine.cluster().table();
  std::vector<std::string> out;
  for (const kube::Taint& taint : table.taint_sets()[table.taint_set(node)])
    if (taint.effect != "PreferNoSchedule" && !tolerated(*tolerations, taint))
      out.push_back(fmt::format("{}{}{}:{}", taint.key.view(), taint.value.empty() ? "" : "=",
                                taint.value.view(), taint.effect.view()));
  return fmt::format("{}", fmt::join(out, ", "));
}

// Keys are numbered as values are, but from zero.
std::string_view node_label(const NodeTable& table, NodeIndex node, std::string_view key) {
  for (const auto& [name, value] : table.labels(node))
    if (table.text(name + 1) == key) return table.text(value);
  return {};
}

std::string selector_detail(const Engine& engine, const kube::Pod& pod, NodeIndex node) {
  if (pod.spec.node_selector.empty()) return "";
  auto wanted = parse_json(pod.spec.node_selector.view());
  if (!wanted || !wanted->is_object()) return "";
  std::vector<std::string> out;
  for (const auto& [key, value] : wanted->get_object()) {
    const std::string_view has = node_label(engine.cluster().table(), node, key);
    if (value.is_string() && std::string_view(value.get_string()) != has)
      out.push_back(fmt::format("{} is {}, must be {}", std::string_view(key),
                                has.empty() ? "not set" : has,
                                std::string_view(value.get_string())));
  }
  return fmt::format("{}", fmt::join(out, "; "));
}

}  // namespace

std::string rejection_detail(const Engine& engine, const kube::Pod& pod, PluginId plugin,
                             NodeIndex node) {
  switch (plugin) {
    case PluginId::NodeResourcesFit:
      return room_detail(engine, pod, node);
    case PluginId::TaintToleration:
      return taint_detail(engine, pod, node);
    case PluginId::NodeAffinity:
      return selector_detail(engine, pod, node);
    default:
      return "";
  }
}

}  // namespace plim::sched
