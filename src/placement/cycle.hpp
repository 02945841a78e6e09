// One decision while it is made: the pod with its rules, and what plugins need to say about nodes.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "placement/cluster_tables.hpp"
#include "placement/decision.hpp"
#include "placement/profile.hpp"

namespace plim::placement {

// The pod that looks for a node.
struct Incoming {
  Incoming(const kube::Pod& of, ClusterTables& cluster);

  const kube::Pod& pod;
  std::string key;
  PodRequests requests, scored;
  std::vector<kube::HostPort> ports;
  std::shared_ptr<const std::vector<kube::Toleration>> tolerations;
  std::shared_ptr<const Affinity> affinity;
  std::shared_ptr<const Spread> spread;
  std::shared_ptr<const NodeTerm> node_selector;
};

// Why nodes are refused, as small numbers; 0 means that nobody objects.
using Verdict = std::uint16_t;
inline constexpr Verdict kFits = 0;

class Verdicts {
 public:
  struct Entry {
    std::optional<PluginId> plugin;
    RejectCode code = RejectCode::unschedulable;
    std::vector<std::string> reasons = {};

    bool operator==(const Entry&) const = default;
  };

  Verdict id_of(Entry entry);

  Verdict id_of(PluginId plugin, RejectCode code, std::string_view reason);

  const Entry& at(Verdict verdict) const { return entries_[verdict - 1u]; }

  std::size_t size() const { return entries_.size(); }

 private:
  std::vector<Entry> entries_;
};

struct ImageView;  // locality.hpp
class NodeClass;   // node_class.hpp

struct PreFilterFailure {
  PluginId plugin{};
  std::optional<RejectCode> code;  // none: an error
  std::string message;
};

struct Cycle {
  ClusterTables& cluster;
  const Incoming& in;
  const Profile& profile;
  Verdicts& verdicts;
  WallTime now{};
  DecisionTimes* times = nullptr;
  NodeClass* alike = nullptr;  // what pods of the same shape have found out
  // Set by the making of filters, which is what stock calls preFilter.
  std::optional<PreFilterFailure> failure = {};
  std::optional<std::vector<std::string>> only_nodes = {};  // sorted
  const NodeMatches* matches = nullptr;
  std::shared_ptr<const ImageView> images = nullptr;

  const ImageView& image_view();

  // Whether the row is among those that a plugin has named, if it has.
  bool is_named(NodeIndex row) const;

  const NodeMatches& node_matches() {
    if (matches == nullptr)
      matches = &cluster.node_matches().get(in.affinity, in.node_selector, cluster.table());
    return *matches;
  }
};

// A plugin's judgement of nodes for this pod.
class Filter {
 public:
  virtual ~Filter() = default;
  virtual Verdict check(NodeIndex row) = 0;
  // Judges many nodes: those refused leave `rows` and get their verdict by row.
  virtual void sieve(std::vector<NodeIndex>& rows, std::vector<Verdict>& verdicts) = 0;

  // The numbers behind its verdict on the row, "" where there are none that only it knows.
  virtual std::string describe(NodeIndex /*row*/) const { return ""; }

  // A pod has been imagined on the row (1) or away from it (-1); the cluster knows already.
  virtual void pod_moved(const PodRecord&, NodeIndex /*row*/, int /*sign*/) {}
};

// Gives a filter with `Verdict judge(NodeIndex)` both ways of being asked, without a call per node.
template <class Own>
class FilterOf : public Filter {
 public:
  Verdict check(NodeIndex row) final { return static_cast<Own*>(this)->judge(row); }

  void sieve(std::vector<NodeIndex>& rows, std::vector<Verdict>& verdicts) override {
    std::size_t kept = 0;
    for (NodeIndex row : rows) {
      Verdict verdict = static_cast<Own*>(this)->judge(row);
      if (verdict == kFits)
        rows[kept++] = row;
      else
        verdicts[row] = verdict;
    }
    rows.resize(kept);
  }
};

struct FilterStep {
  PluginId plugin{};
  std::unique_ptr<Filter> filter;
};

// A score plugin's column, one number per feasible node.
struct ScoreColumn {
  PluginId plugin{};
  std::int64_t weight = 1;
  std::vector<std::int64_t> raw, normalized;
  bool flat = false;  // all nodes get the same, which is told once

  PluginScore at(std::size_t place) const {
    const std::size_t told = flat ? 0 : place;
    return {plugin, raw[told], normalized[told], normalized[told] * weight};
  }
};

enum class NormalizeOrder : std::uint8_t { as_is, reversed };

// To 0..100 by the highest; reversed, the highest becomes 0.
void normalize_by_highest(std::vector<std::int64_t>& scores, NormalizeOrder order);

}  // namespace plim::placement
