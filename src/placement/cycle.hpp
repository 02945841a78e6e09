// The state of one decision: the pod with its rules, and the verdicts and scores of plugins.
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

// The pod to place.
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

// The reasons why nodes are rejected, as small numbers; 0 means that no plugin rejects the node.
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

struct ImageView;     // locality.hpp
class NodeClass;      // node_class.hpp
class VolumeMatcher;  // volume_match.hpp

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
  NodeClass* alike = nullptr;  // shared by pods of the same shape
  // Set while filters are made, which is the PreFilter step of kube-scheduler.
  std::optional<PreFilterFailure> failure = {};
  std::optional<std::vector<std::string>> only_nodes = {};  // sorted
  const NodeMatches* matches = nullptr;
  std::shared_ptr<const ImageView> images = nullptr;
  // Set by VolumeBinding's filter if claims of the pod wait for their first consumer.
  std::shared_ptr<const VolumeMatcher> volumes = nullptr;

  const ImageView& image_view();

  // True if no plugin has named nodes, or if the row is among the named ones.
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
  // Judges many nodes: removes rejected ones from `rows` and stores their verdicts by row.
  virtual void sieve(std::vector<NodeIndex>& rows, std::vector<Verdict>& verdicts) = 0;

  // The numbers behind its verdict on the row; "" if the filter has no details of its own.
  virtual std::string describe(NodeIndex /*row*/) const { return ""; }

  // Called after ClusterTables::imagine() added a pod to the row (1) or removed it (-1).
  virtual void pod_moved(const PodRecord&, NodeIndex /*row*/, int /*sign*/) {}
};

// Implements both functions for a filter with `Verdict judge(NodeIndex)`, without a virtual call
// per node.
template <class Own>
class FilterOf : public Filter {  // NOLINT(bugprone-crtp-constructor-accessibility)
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
  bool flat = false;  // all nodes get the same score, stored once, or 0 and not stored

  PluginScore at(std::size_t place) const {
    if (flat && raw.empty()) return {plugin, 0, 0, 0};
    const std::size_t told = flat ? 0 : place;
    return {plugin, raw[told], normalized[told], normalized[told] * weight};
  }
};

enum class NormalizeOrder : std::uint8_t { as_is, reversed };

// Scales scores to 0..100 so that the highest becomes 100; reversed, it becomes 0.
void normalize_by_highest(std::vector<std::int64_t>& scores, NormalizeOrder order);

}  // namespace plim::placement
