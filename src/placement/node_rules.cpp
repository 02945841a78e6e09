#include "placement/node_rules.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "placement/rule_json.hpp"

namespace plim::placement {
namespace {

using Op = kube::LabelRequirement::Op;

bool read_requirement(const json::value& expression, NodeTable& table, NodeRequirement& out) {
  constexpr std::pair<std::string_view, Op> kOps[] = {
      {"In", Op::in},         {"NotIn", Op::not_in},
      {"Exists", Op::exists}, {"DoesNotExist", Op::not_exists},
      {"Gt", Op::greater},    {"Lt", Op::less}};
  auto op = std::ranges::find(kOps, kube::text_at(expression, "NodeSelectorRequirement.operator"),
                              &std::pair<std::string_view, Op>::first);
  std::string_view key = kube::text_at(expression, "NodeSelectorRequirement.key");
  if (op == std::end(kOps) || !kube::check_label_key(key)) return false;
  out.op = op->second;
  out.key = table.labels().key_id(key);
  out.values = kube::texts_at(expression, "NodeSelectorRequirement.values");
  const auto& values = out.values;
  for (const std::string& value : values)
    if (!kube::check_label_value(value)) return false;
  switch (out.op) {
    case Op::in:
    case Op::not_in:
      return !values.empty();
    case Op::exists:
    case Op::not_exists:
      return values.empty();
    default: {
      auto number = values.size() == 1 ? kube::label_number(values[0]) : std::nullopt;
      out.number = number.value_or(0);
      return number.has_value();
    }
  }
}

NodeTerm read_node_term(const json::value& term, NodeTable& table) {
  NodeTerm out;
  for (const json::value& expression : kube::list_at(term, "NodeSelectorTerm.matchExpressions"))
    if (!read_requirement(expression, table, out.labels.emplace_back())) out.broken = true;
  for (const json::value& expression : kube::list_at(term, "NodeSelectorTerm.matchFields")) {
    auto values = kube::texts_at(expression, "NodeSelectorRequirement.values");
    std::string_view op = kube::text_at(expression, "NodeSelectorRequirement.operator");
    if (values.size() != 1 || (op != "In" && op != "NotIn")) {
      out.broken = true;
      continue;
    }
    out.names.push_back(
        {.known_field = kube::text_at(expression, "NodeSelectorRequirement.key") == "metadata.name",
         .equal = op == "In",
         .value = values[0]});
  }
  return out;
}

bool is_empty_term(const json::value& term) {
  return kube::list_at(term, "NodeSelectorTerm.matchExpressions").empty() &&
         kube::list_at(term, "NodeSelectorTerm.matchFields").empty();
}

// The nodes that a term names; nothing if it does not name nodes.
std::optional<std::vector<std::string>> named_nodes(const json::value& term) {
  std::optional<std::vector<std::string>> out;
  for (const json::value& expression : kube::list_at(term, "NodeSelectorTerm.matchFields")) {
    if (kube::text_at(expression, "NodeSelectorRequirement.key") != "metadata.name" ||
        kube::text_at(expression, "NodeSelectorRequirement.operator") != "In")
      continue;
    auto values = kube::texts_at(expression, "NodeSelectorRequirement.values");
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

// `value` is the node's value of the label.
bool requirement_holds(const NodeRequirement& requirement, std::optional<std::string_view> value) {
  auto among = [&] {
    return std::ranges::find(requirement.values, *value) != requirement.values.end();
  };
  switch (requirement.op) {
    case Op::in:
    case Op::equals:
      return value && among();
    case Op::not_in:
    case Op::not_equals:
      return !value || !among();
    case Op::exists:
      return value.has_value();
    case Op::not_exists:
      return !value;
    case Op::greater:
    case Op::less: {
      auto number = value ? kube::label_number(*value) : std::nullopt;
      if (!number) return false;
      return requirement.op == Op::greater ? *number > requirement.number
                                           : *number < requirement.number;
    }
  }
  return false;
}

bool name_holds(const NodeTerm::Name& name, std::string_view node) {
  const bool same = name.known_field ? node == name.value : name.value.empty();
  return same == name.equal;
}

// `value_of` gives the node's value of a label.
template <class ValueOf>
bool term_holds(const NodeTerm& term, std::string_view node, ValueOf value_of) {
  if (term.broken) return false;
  for (const NodeRequirement& requirement : term.labels)
    if (!requirement_holds(requirement, value_of(requirement.key))) return false;
  return std::ranges::all_of(term.names,
                             [&](const NodeTerm::Name& name) { return name_holds(name, node); });
}

RowSet live_rows(const NodeTable& table) {
  return RowSet::of(table.rows(), [&](NodeIndex row) { return table.is_live(row); });
}

RowSet rows_where(const NodeRequirement& requirement, NodeTable& table) {
  const LabelColumn& column = table.labels().column(requirement.key);
  std::vector<std::uint8_t> holds(column.size(), 0);
  holds[0] = requirement_holds(requirement, std::nullopt);
  for (std::uint32_t number = 1; number < holds.size(); ++number)
    if (const LabelValue value = column.value(number); value != 0)
      holds[number] = requirement_holds(requirement, table.labels().text(value));
  return RowSet::of(table.rows(), [&](NodeIndex row) { return holds[column.at(row)] != 0; });
}

}  // namespace

bool NodeTerm::matches(const NodeTable& table, NodeIndex row) const {
  return term_holds(*this, table.name(row), [&](LabelKey key) -> std::optional<std::string_view> {
    const LabelValue value = table.labels().value(row, key);
    if (value == 0) return std::nullopt;
    return table.labels().text(value);
  });
}

bool NodeTerm::matches(const NodeTable& table, const kube::Node& node) const {
  return term_holds(*this, node.meta.name, [&](LabelKey key) {
    return kube::find_label(node.meta.labels, table.labels().text(key + 1));
  });
}

RowSet NodeTerm::matching_rows(NodeTable& table) const {
  if (broken) return {};
  RowSet out = live_rows(table);
  for (const NodeRequirement& requirement : labels) out.keep(rows_where(requirement, table));
  for (const Name& name : names)
    out.keep(
        RowSet::of(table.rows(), [&](NodeIndex row) { return name_holds(name, table.name(row)); }));
  return out;
}

RowSet NodeRules::required_rows(NodeTable& table) const {
  if (!has_required) return live_rows(table);
  RowSet out;
  for (const NodeTerm& term : required) out.add(term.matching_rows(table));
  return out;
}

bool NodeRules::required_match(const NodeTable& table, NodeIndex row) const {
  return !has_required || std::ranges::any_of(required, [&](const NodeTerm& term) {
    return term.matches(table, row);
  });
}

bool NodeRules::required_match(const NodeTable& table, const kube::Node& node) const {
  return !has_required || std::ranges::any_of(required, [&](const NodeTerm& term) {
    return term.matches(table, node);
  });
}

bool is_sound_node_term(const json::value& term) {
  NodeTable scratch;  // for the names of labels
  return !read_node_term(term, scratch).broken;
}

NodeRules read_node_rules(const json::value& node_affinity, NodeTable& table) {
  NodeRules out;
  const json::value* required =
      kube::find(node_affinity, "NodeAffinity.requiredDuringSchedulingIgnoredDuringExecution");
  out.has_required = required != nullptr && required->is_object();
  if (out.has_required) {
    const json::array& terms = kube::list_at(*required, "NodeSelector.nodeSelectorTerms");
    for (const json::value& term : terms)
      if (!is_empty_term(term)) out.required.push_back(read_node_term(term, table));
    read_only_nodes(terms, out);
  }
  for (const json::value& choice : kube::list_at(
           node_affinity, "NodeAffinity.preferredDuringSchedulingIgnoredDuringExecution")) {
    out.has_preferred = true;
    const json::value* term = kube::find(choice, "PreferredSchedulingTerm.preference");
    std::int64_t weight = int32_at(choice, "PreferredSchedulingTerm.weight", 0);
    if (term == nullptr || weight == 0 || is_empty_term(*term)) continue;
    out.preferred.push_back(read_node_term(*term, table));
    out.preferred.back().weight = weight;
  }
  return out;
}

NodeTerm read_node_selector(const json::value& selector, NodeTable& table) {
  NodeTerm out;
  if (!selector.is_object()) return out;
  for (const auto& [key, value] : selector.get_object())
    if (value.is_string())
      out.labels.push_back({.op = Op::in,
                            .key = table.labels().key_id(key),
                            .values = {std::string(std::string_view(value.get_string()))}});
  return out;
}

}  // namespace plim::placement
