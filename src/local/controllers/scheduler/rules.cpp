#include "local/controllers/scheduler/rules.hpp"

#include <algorithm>
#include <optional>

namespace plim::local::controllers::scheduler {
namespace {

constexpr std::string_view kRequired = "requiredDuringSchedulingIgnoredDuringExecution";
constexpr std::string_view kPreferred = "preferredDuringSchedulingIgnoredDuringExecution";

json::value parsed(std::string_view text) {
  if (text.empty()) return nullptr;
  auto value = parse_json(text);
  return value ? std::move(*value) : json::value();
}

std::optional<kube::LabelRequirement> requirement_of(const json::value& expression) {
  using Op = kube::LabelRequirement::Op;
  constexpr std::pair<std::string_view, Op> kOps[] = {
      {"In", Op::in},         {"NotIn", Op::not_in},
      {"Exists", Op::exists}, {"DoesNotExist", Op::not_exists},
      {"Gt", Op::greater},    {"Lt", Op::less}};
  std::string_view name = text_at(expression, {"operator"});
  auto op = std::ranges::find(kOps, name, &std::pair<std::string_view, Op>::first);
  if (op == std::end(kOps)) return std::nullopt;
  kube::LabelRequirement out{.key = std::string(text_at(expression, {"key"})),
                             .op = op->second,
                             .values = texts_at(expression, {"values"})};
  std::ranges::sort(out.values);
  return out;
}

std::vector<kube::LabelRequirement> requirements_of(const json::array& expressions) {
  std::vector<kube::LabelRequirement> out;
  for (const json::value& expression : expressions)
    if (auto one = requirement_of(expression)) out.push_back(std::move(*one));
  return out;
}

NodeTerm node_term_of(const json::value& term) {
  return {.labels = requirements_of(list_at(term, {"matchExpressions"})),
          .names = requirements_of(list_at(term, {"matchFields"}))};
}

PodTerm pod_term_of(const json::value& term, const kube::Pod& owner) {
  PodTerm out{.topology_key = std::string(text_at(term, {"topologyKey"})),
              .namespaces = texts_at(term, {"namespaces"})};
  const json::value* selector = find(term, {"labelSelector"});
  auto made = kube::LabelSelector::from_json(selector != nullptr ? *selector : json::value());
  out.selector = made ? std::move(*made) : kube::LabelSelector::nothing();
  // The labels of namespaces are not looked at: a selector of them stands for all.
  const json::value* namespaces = find(term, {"namespaceSelector"});
  out.all_namespaces = namespaces != nullptr && namespaces->is_object();
  if (out.namespaces.empty() && !out.all_namespaces)
    out.namespaces.emplace_back(owner.meta.ns.view());
  return out;
}

std::vector<PodTerm> pod_terms_of(const json::value& affinity, std::string_view which,
                                  const kube::Pod& owner) {
  std::vector<PodTerm> out;
  for (const json::value& term : list_at(affinity, {which, kRequired}))
    out.push_back(pod_term_of(term, owner));
  return out;
}

}  // namespace

bool NodeTerm::matches(const kube::Node& node) const {
  if (labels.empty() && names.empty()) return false;
  auto label = [&](const kube::LabelRequirement& r) {
    return r.matches(kube::find_label(node.meta.labels, r.key));
  };
  auto name = [&](const kube::LabelRequirement& r) {
    return r.key == "metadata.name" && r.matches(std::string_view(node.meta.name));
  };
  return std::ranges::all_of(labels, label) && std::ranges::all_of(names, name);
}

bool PodTerm::matches(const kube::Pod& pod) const {
  bool here = all_namespaces ||
              std::ranges::find(namespaces, pod.meta.ns.view(), [](const std::string& text) {
                return std::string_view(text);
              }) != namespaces.end();
  return here && selector.matches(pod.meta.labels);
}

bool Rules::fits_labels(const kube::Node& node) const {
  for (const auto& [key, value] : node_selector)
    if (kube::find_label(node.meta.labels, key) != std::string_view(value)) return false;
  auto matches = [&](const NodeTerm& term) { return term.matches(node); };
  return !has_required_nodes || std::ranges::any_of(required_nodes, matches);
}

Rules rules_of(const kube::Pod& pod) {
  Rules out;
  const json::value selector = parsed(pod.spec.node_selector);
  if (selector.is_object())
    for (const auto& [key, value] : selector.get_object())
      if (value.is_string()) out.node_selector.emplace_back(key, value.get_string());
  const json::value affinity = parsed(pod.spec.affinity);
  out.has_required_nodes = find(affinity, {"nodeAffinity", kRequired}) != nullptr;
  for (const json::value& term :
       list_at(affinity, {"nodeAffinity", kRequired, "nodeSelectorTerms"}))
    out.required_nodes.push_back(node_term_of(term));
  for (const json::value& choice : list_at(affinity, {"nodeAffinity", kPreferred})) {
    const json::value* term = find(choice, {"preference"});
    if (term == nullptr) continue;
    out.preferred_nodes.push_back(node_term_of(*term));
    out.preferred_nodes.back().weight = int_at(choice, {"weight"}).value_or(0);
  }
  out.near = pod_terms_of(affinity, "podAffinity", pod);
  out.apart = pod_terms_of(affinity, "podAntiAffinity", pod);
  out.tolerations = kube::parse_tolerations(pod.spec.tolerations);
  out.ports = kube::host_ports(pod);
  return out;
}

std::vector<PodTerm> apart_terms_of(const kube::Pod& pod) {
  if (pod.spec.affinity.view().find("podAntiAffinity") == std::string_view::npos) return {};
  return pod_terms_of(parsed(pod.spec.affinity), "podAntiAffinity", pod);
}

}  // namespace plim::local::controllers::scheduler
