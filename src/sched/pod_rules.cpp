#include "sched/pod_rules.hpp"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace plim::sched {
namespace {

using Op = kube::LabelRequirement::Op;

constexpr std::string_view kRequired = "requiredDuringSchedulingIgnoredDuringExecution";
constexpr std::string_view kPreferred = "preferredDuringSchedulingIgnoredDuringExecution";

json::value json_or_null(std::string_view text) {
  if (text.empty()) return nullptr;
  auto value = parse_json(text);
  return value ? std::move(*value) : json::value();
}

const json::array& array_at(const json::value& value,
                            std::initializer_list<std::string_view> path) {
  static const json::array none;
  const json::value* found = find(value, path);
  return found != nullptr && found->is_array() ? found->get_array() : none;
}

std::vector<std::string> texts_of(const json::array& list) {
  std::vector<std::string> out;
  for (const json::value& item : list)
    if (item.is_string()) out.emplace_back(item.get_string());
  return out;
}

// The API has 32 bits for weights and skews; more is no answer of an API server.
std::int64_t small_int_at(const json::value& value, std::string_view key, std::int64_t fallback) {
  return static_cast<std::int32_t>(int_at(value, {key}).value_or(fallback));
}

std::optional<std::int64_t> whole_number(std::string_view text) {
  std::int64_t out = 0;
  if (text.starts_with('+')) text.remove_prefix(1);
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return out;
}

bool read_requirement(const json::value& expression, NodeTable& table, NodeRequirement& out) {
  constexpr std::pair<std::string_view, Op> kOps[] = {
      {"In", Op::in},         {"NotIn", Op::not_in},
      {"Exists", Op::exists}, {"DoesNotExist", Op::not_exists},
      {"Gt", Op::greater},    {"Lt", Op::less}};
  auto op = std::ranges::find(kOps, text_at(expression, {"operator"}),
                              &std::pair<std::string_view, Op>::first);
  std::string_view key = text_at(expression, {"key"});
  if (op == std::end(kOps) || !kube::check_label_key(key)) return false;
  out.op = op->second;
  out.key = table.key_id(key);
  auto values = texts_of(array_at(expression, {"values"}));
  for (const std::string& value : values) {
    if (!kube::check_label_value(value)) return false;
    out.values.push_back(table.value_id(value));
  }
  switch (out.op) {
    case Op::in:
    case Op::not_in:
      return !values.empty();
    case Op::exists:
    case Op::not_exists:
      return values.empty();
    default: {
      auto number = values.size() == 1 ? whole_number(values[0]) : std::nullopt;
      out.number = number.value_or(0);
      return number.has_value();
    }
  }
}

NodeTerm read_node_term(const json::value& term, NodeTable& table) {
  NodeTerm out;
  for (const json::value& expression : array_at(term, {"matchExpressions"}))
    if (!read_requirement(expression, table, out.labels.emplace_back())) out.broken = true;
  for (const json::value& expression : array_at(term, {"matchFields"})) {
    auto values = texts_of(array_at(expression, {"values"}));
    std::string_view op = text_at(expression, {"operator"});
    if (values.size() != 1 || (op != "In" && op != "NotIn")) {
      out.broken = true;
      continue;
    }
    out.names.push_back({.known_field = text_at(expression, {"key"}) == "metadata.name",
                         .equal = op == "In",
                         .value = values[0]});
  }
  return out;
}

bool is_empty_term(const json::value& term) {
  return array_at(term, {"matchExpressions"}).empty() && array_at(term, {"matchFields"}).empty();
}

// The nodes a term names, none if it names no node at all.
std::optional<std::vector<std::string>> named_nodes(const json::value& term) {
  std::optional<std::vector<std::string>> out;
  for (const json::value& expression : array_at(term, {"matchFields"})) {
    if (text_at(expression, {"key"}) != "metadata.name" ||
        text_at(expression, {"operator"}) != "In")
      continue;
    auto values = texts_of(array_at(expression, {"values"}));
    std::ranges::sort(values);
    if (!out) {
      out = std::move(values);
      continue;
    }
    std::vector<std::string> both;
    std::ranges::set_intersection(*out, values, std::back_inserter(both));
    out = std::move(both);
  }
  return out;
}

void read_only_nodes(const json::array& terms, NodeRules& out) {
  if (terms.empty()) return;
  std::vector<std::string> all;
  for (const json::value& term : terms) {
    auto named = named_nodes(term);
    if (!named) return;
    all.insert(all.end(), named->begin(), named->end());
  }
  std::ranges::sort(all);
  all.erase(std::unique(all.begin(), all.end()), all.end());
  out.only_nodes = std::move(all);
}

kube::LabelSelector read_selector(const json::value& owner, std::string_view field,
                                  std::string& mistake) {
  const json::value* found = find(owner, {field});
  auto made = kube::LabelSelector::from_json(found != nullptr ? *found : json::value());
  if (made) return std::move(*made);
  if (mistake.empty()) mistake = made.error().message;
  return kube::LabelSelector::nothing();
}

std::string selector_text(const kube::LabelSelector& selector) {
  // Nothing and everything print alike.
  return selector == kube::LabelSelector::nothing() ? "!" : selector.to_string();
}

PodTerm read_pod_term(const json::value& term, const kube::Pod& owner, NodeTable& table,
                      std::string& mistake) {
  PodTerm out;
  out.selector = read_selector(term, "labelSelector", mistake);
  out.topology_key = table.key_id(text_at(term, {"topologyKey"}));
  out.namespaces = texts_of(array_at(term, {"namespaces"}));
  const json::value* namespaces = find(term, {"namespaceSelector"});
  if (namespaces != nullptr && namespaces->is_object())
    out.namespace_selector = read_selector(term, "namespaceSelector", mistake);
  if (out.namespaces.empty() && !out.namespace_selector)
    out.namespaces.emplace_back(owner.meta.ns.view());
  std::ranges::sort(out.namespaces);
  out.text = fmt::format("{}\n{}\n{}\n{}", out.topology_key, selector_text(out.selector),
                         fmt::join(out.namespaces, ","),
                         out.namespace_selector ? selector_text(*out.namespace_selector) : "-");
  return out;
}

void read_pod_terms(const json::value& affinity, std::string_view which, const kube::Pod& owner,
                    NodeTable& table, std::vector<PodTerm>& required,
                    std::vector<PodTerm>& preferred, std::string& mistake) {
  for (const json::value& term : array_at(affinity, {which, kRequired}))
    required.push_back(read_pod_term(term, owner, table, mistake));
  for (const json::value& choice : array_at(affinity, {which, kPreferred})) {
    const json::value* term = find(choice, {"podAffinityTerm"});
    if (term == nullptr) continue;
    preferred.push_back(read_pod_term(*term, owner, table, mistake));
    preferred.back().weight = small_int_at(choice, "weight", 0);
  }
}

Affinity read_affinity(const kube::Pod& pod, NodeTable& table) {
  Affinity out;
  const json::value affinity = json_or_null(pod.spec.affinity);
  if (const json::value* nodes = find(affinity, {"nodeAffinity"}))
    out.nodes = read_node_rules(*nodes, table);
  read_pod_terms(affinity, "podAffinity", pod, table, out.near, out.prefer_near, out.mistake);
  read_pod_terms(affinity, "podAntiAffinity", pod, table, out.apart, out.prefer_apart, out.mistake);
  return out;
}

Spread read_spread(std::string_view text, NodeTable& table) {
  Spread out;
  const json::value list = json_or_null(text);
  if (!list.is_array()) return out;
  for (const json::value& item : list.get_array()) {
    SpreadConstraint& made = out.constraints.emplace_back();
    made.max_skew = small_int_at(item, "maxSkew", 0);
    made.min_domains = small_int_at(item, "minDomains", 1);
    made.key = table.key_id(text_at(item, {"topologyKey"}));
    made.hard = text_at(item, {"whenUnsatisfiable"}) == "DoNotSchedule";
    made.honor_affinity = text_at(item, {"nodeAffinityPolicy"}) != "Ignore";
    made.honor_taints = text_at(item, {"nodeTaintsPolicy"}) == "Honor";
    made.selector = read_selector(item, "labelSelector", out.mistake);
    made.match_label_keys = texts_of(array_at(item, {"matchLabelKeys"}));
  }
  return out;
}

std::vector<Toleration> read_tolerations(std::string_view text) {
  std::vector<Toleration> out;
  const json::value list = json_or_null(text);
  if (!list.is_array()) return out;
  for (const json::value& item : list.get_array())
    out.push_back({.key = std::string(text_at(item, {"key"})),
                   .value = std::string(text_at(item, {"value"})),
                   .effect = std::string(text_at(item, {"effect"})),
                   .exists = text_at(item, {"operator"}) == "Exists"});
  return out;
}

NodeTerm read_node_selector(std::string_view text, NodeTable& table) {
  NodeTerm out;
  const json::value selector = json_or_null(text);
  if (!selector.is_object()) return out;
  for (const auto& [key, value] : selector.get_object())
    if (value.is_string())
      out.labels.push_back({.op = Op::in,
                            .key = table.key_id(key),
                            .values = {table.value_id(std::string_view(value.get_string()))}});
  return out;
}

void add_host_ports(const kube::Container& container, std::vector<HostPort>& out) {
  if (container.ports.empty()) return;
  const json::value list = json_or_null(container.ports);
  if (!list.is_array()) return;
  for (const json::value& item : list.get_array()) {
    HostPort made{.port = static_cast<std::int32_t>(int_at(item, {"hostPort"}).value_or(0))};
    if (made.port <= 0) continue;
    if (auto text = text_at(item, {"protocol"}); !text.empty()) made.protocol = text;
    if (auto text = text_at(item, {"hostIP"}); !text.empty()) made.address = text;
    out.push_back(std::move(made));
  }
}

bool requirement_holds(const NodeRequirement& requirement, LabelValue value,
                       const NodeTable& table) {
  auto among = [&] {
    return std::ranges::find(requirement.values, value) != requirement.values.end();
  };
  switch (requirement.op) {
    case Op::in:
    case Op::equals:
      return value != 0 && among();
    case Op::not_in:
    case Op::not_equals:
      return value == 0 || !among();
    case Op::exists:
      return value != 0;
    case Op::not_exists:
      return value == 0;
    case Op::greater:
    case Op::less: {
      auto number = value != 0 ? whole_number(table.text(value)) : std::nullopt;
      if (!number) return false;
      return requirement.op == Op::greater ? *number > requirement.number
                                           : *number < requirement.number;
    }
  }
  return false;
}

}  // namespace

bool Toleration::tolerates(std::string_view taint_key, std::string_view taint_value,
                           std::string_view taint_effect) const {
  if (!effect.empty() && effect != taint_effect) return false;
  if (!key.empty() && key != taint_key) return false;
  return exists || value == taint_value;
}

bool tolerated(const std::vector<Toleration>& tolerations, const kube::Taint& taint) {
  return std::ranges::any_of(tolerations, [&](const Toleration& one) {
    return one.tolerates(taint.key, taint.value, taint.effect);
  });
}

bool NodeTerm::matches(const NodeTable& table, NodeIndex row) const {
  if (broken) return false;
  for (const NodeRequirement& requirement : labels)
    if (!requirement_holds(requirement, table.label(row, requirement.key), table)) return false;
  for (const Name& name : names) {
    bool same = name.known_field ? table.name(row) == name.value : name.value.empty();
    if (same != name.equal) return false;
  }
  return true;
}

bool NodeRules::required_match(const NodeTable& table, NodeIndex row) const {
  return !has_required || std::ranges::any_of(required, [&](const NodeTerm& term) {
    return term.matches(table, row);
  });
}

NodeRules read_node_rules(const json::value& node_affinity, NodeTable& table) {
  NodeRules out;
  const json::value* required = find(node_affinity, {kRequired});
  out.has_required = required != nullptr && required->is_object();
  if (out.has_required) {
    const json::array& terms = array_at(*required, {"nodeSelectorTerms"});
    for (const json::value& term : terms)
      if (!is_empty_term(term)) out.required.push_back(read_node_term(term, table));
    read_only_nodes(terms, out);
  }
  for (const json::value& choice : array_at(node_affinity, {kPreferred})) {
    out.has_preferred = true;
    const json::value* term = find(choice, {"preference"});
    std::int64_t weight = small_int_at(choice, "weight", 0);
    if (term == nullptr || weight == 0 || is_empty_term(*term)) continue;
    out.preferred.push_back(read_node_term(*term, table));
    out.preferred.back().weight = weight;
  }
  return out;
}

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
  if (known.size() >= limit) {  // what no pod holds any more is forgotten
    std::erase_if(known, [](const auto& one) { return one.second.use_count() == 1; });
    limit = 2 * known.size() + 256;
  }
  auto made = std::make_shared<const T>(make());
  known.emplace(text, made);
  return made;
}

std::shared_ptr<const std::vector<Toleration>> RuleReader::tolerations(const kube::Pod& pod) {
  std::string_view text = pod.spec.tolerations;
  return tolerations_.get(text, [&] { return read_tolerations(text); });
}

std::shared_ptr<const Affinity> RuleReader::affinity(const kube::Pod& pod) {
  if (pod.spec.affinity.empty()) return affinities_.get("", [] { return Affinity(); });
  // Terms without namespaces mean those of the pod.
  std::string text = fmt::format("{}\n{}", pod.meta.ns.view(), pod.spec.affinity.view());
  return affinities_.get(text, [&] { return read_affinity(pod, table_); });
}

std::shared_ptr<const Spread> RuleReader::spread(const kube::Pod& pod) {
  std::string_view text = pod.spec.topology_spread;
  return spreads_.get(text, [&] { return read_spread(text, table_); });
}

std::shared_ptr<const NodeTerm> RuleReader::node_selector(const kube::Pod& pod) {
  std::string_view text = pod.spec.node_selector;
  return selectors_.get(text, [&] { return read_node_selector(text, table_); });
}

std::shared_ptr<const NodeRules> RuleReader::node_rules(const json::value& node_affinity) {
  return node_rules_.get(to_json(node_affinity),
                         [&] { return read_node_rules(node_affinity, table_); });
}

std::vector<HostPort> RuleReader::host_ports(const kube::Pod& pod) const {
  std::vector<HostPort> out;
  for (const kube::Container& container : pod.spec.containers) add_host_ports(container, out);
  for (const kube::Container& container : pod.spec.init_containers)
    if (container.restart_policy == "Always") add_host_ports(container, out);
  return out;
}

}  // namespace plim::sched
