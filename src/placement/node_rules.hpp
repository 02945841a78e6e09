// The requirements of a pod on its node's labels and name. Label keys are numbers of the node
// table.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.hpp"
#include "kube/selector.hpp"
#include "placement/node_table.hpp"
#include "placement/row_set.hpp"

namespace plim::placement {

// One requirement on a node's label.
struct NodeRequirement {
  kube::LabelRequirement::Op op{};
  LabelKey key = 0;
  std::vector<std::string> values;
  std::int64_t number = 0;  // of Gt and Lt
};

struct NodeTerm {
  std::vector<NodeRequirement> labels;

  struct Name {
    bool known_field = true;  // another field than metadata.name is empty on every node
    bool equal = true;
    std::string value;
  };

  std::vector<Name> names;
  std::int64_t weight = 0;  // of a preference
  bool broken = false;      // invalid: matches nothing

  bool matches(const NodeTable& table, NodeIndex row) const;
  // The live rows that match: a requirement is compared with each value of its label once.
  RowSet matching_rows(NodeTable& table) const;
  // The same for a node that is not in the table, or has another state there.
  bool matches(const NodeTable& table, const kube::Node& node) const;
};

struct NodeRules {
  bool has_required = false;
  std::vector<NodeTerm> required;  // one must match
  bool has_preferred = false;
  std::vector<NodeTerm> preferred;
  // Set if every required term names nodes: only these can match, sorted.
  std::optional<std::vector<std::string>> only_nodes;

  bool required_match(const NodeTable& table, NodeIndex row) const;
  RowSet required_rows(NodeTable& table) const;
  bool required_match(const NodeTable& table, const kube::Node& node) const;
};

NodeRules read_node_rules(const json::value& node_affinity, NodeTable& table);
// False for a nodeSelectorTerm that is invalid and so matches nothing.
bool is_sound_node_term(const json::value& term);
// A nodeSelector as requirements that all must hold.
NodeTerm read_node_selector(const json::value& selector, NodeTable& table);

}  // namespace plim::placement
