// The placement rules of a pod, parsed once from the JSON text in kube::Pod.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json.hpp"
#include "kube/selector.hpp"
#include "kube/toleration.hpp"
#include "kube/types.hpp"
#include "placement/node_rules.hpp"
#include "placement/node_table.hpp"

namespace plim::placement {

struct PodTerm {
  kube::LabelSelector selector;
  std::vector<std::string> namespaces;  // sorted
  std::optional<kube::LabelSelector> namespace_selector;
  LabelKey topology_key = 0;
  std::int64_t weight = 0;  // of a preference
  std::string text;         // equal terms have equal texts

  // `labels` are those of the pod's namespace.
  bool matches(const kube::Pod& pod, const kube::Labels& labels) const;
};

struct Affinity {
  NodeRules nodes;
  std::vector<PodTerm> near, apart;  // required
  std::vector<PodTerm> prefer_near, prefer_apart;
  std::string mistake;  // the error of an invalid selector

  bool has_pod_terms() const {
    return !near.empty() || !apart.empty() || !prefer_near.empty() || !prefer_apart.empty();
  }
};

struct SpreadConstraint {
  std::int64_t max_skew = 1, min_domains = 1;
  LabelKey key = 0;
  bool hard = true;
  bool honor_affinity = true, honor_taints = false;
  kube::LabelSelector selector;
  std::vector<std::string> match_label_keys;
};

struct Spread {
  std::vector<SpreadConstraint> constraints;
  std::string mistake;
};

// Parses the JSON of pods and caches the result: pods of one owner have the same text.
class RuleReader {
 public:
  explicit RuleReader(NodeTable& table,
                      kube::NumericTolerations numeric = kube::NumericTolerations::off)
      : table_(table), numeric_(numeric) {}

  // Affects tolerations that are read afterwards.
  void set_numeric(kube::NumericTolerations numeric) {
    numeric_ = numeric;
    tolerations_ = {};
  }

  std::shared_ptr<const std::vector<kube::Toleration>> tolerations(const kube::Pod& pod);
  std::shared_ptr<const Affinity> affinity(const kube::Pod& pod);
  std::shared_ptr<const Spread> spread(const kube::Pod& pod);
  // nodeSelector as requirements that must all hold.
  std::shared_ptr<const NodeTerm> node_selector(const kube::Pod& pod);
  // A node affinity that does not belong to a pod.
  std::shared_ptr<const NodeRules> node_rules(const json::value& node_affinity);

 private:
  template <class T>
  struct Memory {
    TextMap<std::shared_ptr<const T>> known;
    std::size_t limit = 256;

    template <class Make>
    std::shared_ptr<const T> get(std::string_view text, Make make);
  };

  NodeTable& table_;
  kube::NumericTolerations numeric_;
  Memory<std::vector<kube::Toleration>> tolerations_;
  Memory<Affinity> affinities_;
  Memory<Spread> spreads_;
  Memory<NodeTerm> selectors_;
  Memory<NodeRules> node_rules_;
};

}  // namespace plim::placement
