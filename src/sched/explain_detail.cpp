// The numbers behind a rejection that are in the tables. A filter describes the numbers that only
// it has (Filter::describe).
#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/quantity.hpp"
#include "kube/selector.hpp"
#include "placement/pod_rules.hpp"
#include "sched/explain.hpp"

namespace plim::sched {
namespace {

std::string amount_text(placement::ResourceId id, std::int64_t amount) {
  if (id == placement::kCpu) return Quantity::from_milli(amount).to_string();
  if (id == placement::kMemory || id == placement::kEphemeral)
    return Quantity::from_bytes(amount).to_string();
  return std::to_string(amount);
}

std::string room_detail(const Engine& engine, const kube::Pod& pod, NodeIndex node) {
  const placement::NodeResources& resources = engine.cluster().table().resources();
  placement::ResourceNames names = resources.names();
  const placement::PodRequests wanted =
      placement::requests_of(pod, names, engine.cluster().release());
  std::vector<std::string> out;
  if (resources.pods()[node] + 1 > resources.pod_limit()[node])
    out.push_back(fmt::format("pods: {} of {} are there", resources.pods()[node],
                              resources.pod_limit()[node]));
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto id = static_cast<placement::ResourceId>(i);
    const std::int64_t asked = wanted.of(id);
    const std::int64_t* has = resources.allocatable(id);
    const std::int64_t* used = resources.requested(id);
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
  const bool numeric = engine.cluster().release().numeric_tolerations;
  placement::RuleReader reader(
      unused, numeric ? kube::NumericTolerations::on : kube::NumericTolerations::off);
  const auto tolerations = reader.tolerations(pod);
  const placement::NodeTaints& taints = engine.cluster().table().taints();
  std::vector<std::string> out;
  for (const kube::Taint& taint : taints.sets()[taints.set_of(node)])
    if (taint.effect != "PreferNoSchedule" && !tolerated(*tolerations, taint))
      out.push_back(fmt::format("{}{}{}:{}", taint.key.view(), taint.value.empty() ? "" : "=",
                                taint.value.view(), taint.effect.view()));
  return fmt::format("{}", fmt::join(out, ", "));
}

// The number of a key is one less than that of a value with the same text.
std::string_view node_label(const NodeTable& table, NodeIndex node, std::string_view key) {
  for (const auto& [name, value] : table.labels().of(node))
    if (table.labels().text(name + 1) == key) return table.labels().text(value);
  return {};
}

// "zone must be in a, b; it is c"; "" if the node meets the requirement.
std::string unmet(const placement::NodeRequirement& wanted, const NodeTable& ids,
                  const NodeTable& table, NodeIndex node) {
  using Op = kube::LabelRequirement::Op;
  kube::LabelRequirement rule{.key = std::string(ids.labels().text(wanted.key + 1)),
                              .op = wanted.op,
                              .values = wanted.values};
  if (wanted.op == Op::greater || wanted.op == Op::less)
    rule.values = {std::to_string(wanted.number)};
  std::ranges::sort(rule.values);
  std::optional<std::string_view> has;
  for (const auto& [name, value] : table.labels().of(node))
    if (table.labels().text(name + 1) == rule.key) has = table.labels().text(value);
  if (rule.matches(has)) return "";
  const auto asked = [&]() -> std::string {
    std::string list = fmt::format("{}", fmt::join(rule.values, ", "));
    switch (rule.op) {
      case Op::equals:
        return list;
      case Op::in:
        return rule.values.size() == 1 ? list : "one of " + list;
      case Op::not_equals:
      case Op::not_in:
        return "none of " + list;
      case Op::exists:
        return "set";
      case Op::not_exists:
        return "absent";
      case Op::greater:
        return "more than " + list;
      case Op::less:
        return "less than " + list;
    }
    return list;
  };
  return fmt::format("{} is {}, must be {}", rule.key, has ? *has : "not set", asked());
}

// Why each term does not match the node; one match would be enough.
std::string terms_detail(const placement::NodeRules& rules, const NodeTable& ids,
                         const NodeTable& table, NodeIndex node) {
  std::vector<std::string> terms;
  for (const placement::NodeTerm& term : rules.required) {
    std::vector<std::string> wrong;
    for (const placement::NodeRequirement& one : term.labels)
      if (std::string text = unmet(one, ids, table, node); !text.empty())
        wrong.push_back(std::move(text));
    for (const placement::NodeTerm::Name& name : term.names)
      if ((name.known_field && table.name(node) == name.value) != name.equal)
        wrong.push_back(
            fmt::format("metadata.name must {}be {}", name.equal ? "" : "not ", name.value));
    if (term.broken) wrong.emplace_back("a term that cannot be read");
    if (!wrong.empty()) terms.push_back(fmt::format("{}", fmt::join(wrong, " and ")));
  }
  return fmt::format("{}", fmt::join(terms, ", or "));
}

std::string affinity_detail(const Engine& engine, const kube::Pod& pod, NodeIndex node) {
  NodeTable ids;
  placement::RuleReader reader(ids);
  const auto selector = reader.node_selector(pod);
  const auto affinity = reader.affinity(pod);
  std::vector<std::string> out;
  for (const placement::NodeRequirement& one : selector->labels)
    if (std::string text = unmet(one, ids, engine.cluster().table(), node); !text.empty())
      out.push_back(std::move(text));
  if (std::string text = terms_detail(affinity->nodes, ids, engine.cluster().table(), node);
      !text.empty())
    out.push_back(std::move(text));
  return fmt::format("{}", fmt::join(out, "; "));
}

std::string ports_detail(const Engine& engine, const kube::Pod& pod, NodeIndex node) {
  const std::vector<kube::HostPort> wanted = kube::host_ports(pod);
  std::vector<std::string> out;
  auto look = [&](const auto& records) {
    for (const auto& record : records)
      for (const kube::HostPort& port : wanted)
        if (port.clashes_with_any(record->ports))
          out.push_back(fmt::format("{}/{}: taken by {}/{}", port.port, port.protocol,
                                    record->pod->meta.ns.view(), record->pod->meta.name));
  };
  look(engine.cluster().pods().on(node));
  look(engine.cluster().nominations().on(node));
  return fmt::format("{}", fmt::join(out, "; "));
}

std::string restrictions_detail(const Engine& engine, const kube::Pod& pod, NodeIndex node) {
  const placement::VolumeTable& volumes = engine.cluster().volumes();
  std::vector<std::string> disks, claims;
  for (const kube::PodVolume& volume : pod.spec.volumes) {
    if (!volume.disk.empty())
      for (const auto& there : engine.cluster().pods().on(node))
        for (const kube::PodVolume& other : there->pod->spec.volumes)
          if (!other.disk.empty() && placement::disks_clash(volume.disk, other.disk))
            disks.push_back(fmt::format("the disk of volume {} is held by {}/{}",
                                        volume.name.view(), there->pod->meta.ns.view(),
                                        there->pod->meta.name));
    if (volume.claim.empty()) continue;
    const placement::VolumeClaim* claim = volumes.claim(pod.meta.ns, volume.claim);
    const std::int64_t users = volumes.users(pod.meta.ns, volume.claim);
    if (claim != nullptr && claim->once_pod && users > 0)
      claims.push_back(fmt::format("claim {}: {} pods use it, 1 may", volume.claim.view(), users));
  }
  return fmt::format("{}", fmt::join(disks.empty() ? claims : disks, "; "));
}

// The volume of each bound claim of the pod.
template <class Visit>
void each_volume(const Engine& engine, const kube::Pod& pod, Visit visit) {
  const placement::VolumeTable& volumes = engine.cluster().volumes();
  for (const kube::PodVolume& one : pod.spec.volumes) {
    const std::string name = placement::claim_name(pod, one);
    const placement::VolumeClaim* claim = name.empty() ? nullptr : volumes.claim(pod.meta.ns, name);
    if (claim == nullptr || claim->volume.empty()) continue;
    visit(*claim, volumes.volume(claim->volume));
  }
}

std::string binding_detail(const Engine& engine, const kube::Pod& pod, NodeIndex node) {
  const NodeTable& table = engine.cluster().table();
  std::vector<std::string> out;
  each_volume(
      engine, pod,
      [&](const placement::VolumeClaim& claim, const placement::VolumeTable::Volume* volume) {
        if (volume == nullptr)
          out.push_back(
              fmt::format("claim {}: volume {} does not exist", claim.name, claim.volume));
        else if (volume->has_affinity && !volume->affinity.required_match(table, node))
          out.push_back(fmt::format("volume {}: {}", claim.volume,
                                    terms_detail(volume->affinity, table, table, node)));
      });
  return fmt::format("{}", fmt::join(out, "; "));
}

std::string zone_detail(const Engine& engine, const kube::Pod& pod, NodeIndex node) {
  std::vector<std::string> out;
  each_volume(
      engine, pod,
      [&](const placement::VolumeClaim& claim, const placement::VolumeTable::Volume* volume) {
        if (volume == nullptr) return;
        for (const auto& [label, values] : volume->topology) {
          const std::string_view has = node_label(engine.cluster().table(), node, label);
          if (std::ranges::find(values, has) == values.end())
            out.push_back(fmt::format("volume {}: {} is {}, must be {}", claim.volume, label,
                                      has.empty() ? "not set" : has, fmt::join(values, " or ")));
        }
      });
  return fmt::format("{}", fmt::join(out, "; "));
}

std::string name_detail(const kube::Pod& pod) {
  return fmt::format("asks for {}", pod.spec.node_name.view());
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
      return affinity_detail(engine, pod, node);
    case PluginId::NodeName:
      return name_detail(pod);
    case PluginId::NodePorts:
      return ports_detail(engine, pod, node);
    case PluginId::VolumeRestrictions:
      return restrictions_detail(engine, pod, node);
    case PluginId::VolumeBinding:
      return binding_detail(engine, pod, node);
    case PluginId::VolumeZone:
      return zone_detail(engine, pod, node);
    default:
      return "";
  }
}

}  // namespace plim::sched
