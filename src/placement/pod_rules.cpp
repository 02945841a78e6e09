#include "placement/pod_rules.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "placement/rule_json.hpp"

namespace plim::placement {
namespace {

json::value json_or_null(std::string_view text) {
  if (text.empty()) return nullptr;
  auto value = parse_json(text);
  return value ? std::move(*value) : json::value();
}

kube::LabelSelector read_selector(const json::value& owner, kube::StructPath path,
                                  std::string& mistake) {
  const json::value* found = kube::find(owner, path);
  auto made = kube::LabelSelector::from_json(found != nullptr ? *found : json::value());
  if (made) return std::move(*made);
  if (mistake.empty()) mistake = made.error().message;
  return kube::LabelSelector::nothing();
}

std::string selector_text(const kube::LabelSelector& selector) {
  // to_string() is the same for nothing() and everything().
  return selector == kube::LabelSelector::nothing() ? "!" : selector.to_string();
}

PodTerm read_pod_term(const json::value& term, const kube::Pod& owner, NodeTable& table,
                      std::string& mistake) {
  PodTerm out;
  out.selector = read_selector(term, "PodAffinityTerm.labelSelector", mistake);
  out.topology_key = table.labels().key_id(kube::text_at(term, "PodAffinityTerm.topologyKey"));
  out.namespaces = kube::texts_at(term, "PodAffinityTerm.namespaces");
  const json::value* namespaces = kube::find(term, "PodAffinityTerm.namespaceSelector");
  if (namespaces != nullptr && namespaces->is_object())
    out.namespace_selector = read_selector(term, "PodAffinityTerm.namespaceSelector", mistake);
  if (out.namespaces.empty() && !out.namespace_selector)
    out.namespaces.emplace_back(owner.meta.ns.view());
  std::ranges::sort(out.namespaces);
  const auto repeats = std::ranges::unique(out.namespaces);
  out.namespaces.erase(repeats.begin(), repeats.end());
  out.text = fmt::format("{}\n{}\n{}\n{}", out.topology_key, selector_text(out.selector),
                         fmt::join(out.namespaces, ","),
                         out.namespace_selector ? selector_text(*out.namespace_selector) : "-");
  return out;
}

// A PodAffinity or a PodAntiAffinity, which have the same fields; null if the pod has none.
void read_pod_terms(const json::value* affinity, const kube::Pod& owner, NodeTable& table,
                    std::vector<PodTerm>& required, std::vector<PodTerm>& preferred,
                    std::string& mistake) {
  if (affinity == nullptr) return;
  for (const json::value& term :
       kube::list_at(*affinity, "PodAffinity.requiredDuringSchedulingIgnoredDuringExecution"))
    required.push_back(read_pod_term(term, owner, table, mistake));
  for (const json::value& choice :
       kube::list_at(*affinity, "PodAffinity.preferredDuringSchedulingIgnoredDuringExecution")) {
    const json::value* term = kube::find(choice, "WeightedPodAffinityTerm.podAffinityTerm");
    if (term == nullptr) continue;
    preferred.push_back(read_pod_term(*term, owner, table, mistake));
    preferred.back().weight = int32_at(choice, "WeightedPodAffinityTerm.weight", 0);
  }
}

Affinity read_affinity(const kube::Pod& pod, NodeTable& table) {
  Affinity out;
  const json::value affinity = json_or_null(pod.spec.affinity);
  if (const json::value* nodes = kube::find(affinity, "Affinity.nodeAffinity"))
    out.nodes = read_node_rules(*nodes, table);
  read_pod_terms(kube::find(affinity, "Affinity.podAffinity"), pod, table, out.near,
                 out.prefer_near, out.mistake);
  read_pod_terms(kube::find(affinity, "Affinity.podAntiAffinity"), pod, table, out.apart,
                 out.prefer_apart, out.mistake);
  return out;
}

Spread read_spread(std::string_view text, NodeTable& table) {
  Spread out;
  const json::value list = json_or_null(text);
  if (!list.is_array()) return out;
  for (const json::value& item : list.get_array()) {
    SpreadConstraint& made = out.constraints.emplace_back();
    made.max_skew = int32_at(item, "TopologySpreadConstraint.maxSkew", 0);
    made.min_domains = int32_at(item, "TopologySpreadConstraint.minDomains", 1);
    made.key = table.labels().key_id(kube::text_at(item, "TopologySpreadConstraint.topologyKey"));
    made.hard =
        kube::text_at(item, "TopologySpreadConstraint.whenUnsatisfiable") == "DoNotSchedule";
    made.honor_affinity =
        kube::text_at(item, "TopologySpreadConstraint.nodeAffinityPolicy") != "Ignore";
    made.honor_taints = kube::text_at(item, "TopologySpreadConstraint.nodeTaintsPolicy") == "Honor";
    made.selector = read_selector(item, "TopologySpreadConstraint.labelSelector", out.mistake);
    made.match_label_keys = kube::texts_at(item, "TopologySpreadConstraint.matchLabelKeys");
  }
  return out;
}

}  // namespace

bool PodTerm::matches(const kube::Pod& pod, const kube::Labels& labels) const {
  bool here =
      std::ranges::binary_search(namespaces, pod.meta.ns.view(), {},
                                 [](const std::string& ns) { return std::string_view(ns); });
  if (!here && !(namespace_selector && namespace_selector->matches(labels))) return false;
  return selector.matches(pod.meta.labels);
}

template <class T>
template <class Make>
std::shared_ptr<const T> RuleReader::Memory<T>::get(std::string_view text, Make make) {
  if (auto found = known.find(text); found != known.end()) return found->second;
  if (known.size() >= limit) {  // drops entries that no pod uses any more
    std::erase_if(known, [](const auto& one) { return one.second.use_count() == 1; });
    limit = 2 * known.size() + 256;
  }
  auto made = std::make_shared<const T>(make());
  known.emplace(text, made);
  return made;
}

std::shared_ptr<const std::vector<kube::Toleration>> RuleReader::tolerations(const kube::Pod& pod) {
  std::string_view text = pod.spec.tolerations;
  return tolerations_.get(text, [&] { return kube::parse_tolerations(text, numeric_); });
}

std::shared_ptr<const Affinity> RuleReader::affinity(const kube::Pod& pod) {
  if (pod.spec.affinity.empty()) return affinities_.get("", [] { return Affinity(); });
  // Terms without namespaces apply to the pod's namespace, so it is part of the key.
  std::string text = fmt::format("{}\n{}", pod.meta.ns.view(), pod.spec.affinity.view());
  return affinities_.get(text, [&] { return read_affinity(pod, table_); });
}

std::shared_ptr<const Spread> RuleReader::spread(const kube::Pod& pod) {
  std::string_view text = pod.spec.topology_spread;
  return spreads_.get(text, [&] { return read_spread(text, table_); });
}

std::shared_ptr<const NodeTerm> RuleReader::node_selector(const kube::Pod& pod) {
  std::string_view text = pod.spec.node_selector;
  return selectors_.get(text, [&] { return read_node_selector(json_or_null(text), table_); });
}

std::shared_ptr<const NodeRules> RuleReader::node_rules(const json::value& node_affinity) {
  return node_rules_.get(to_json(node_affinity),
                         [&] { return read_node_rules(node_affinity, table_); });
}

}  // namespace plim::placement
