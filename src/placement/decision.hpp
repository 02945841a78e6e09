// What a scheduling decision says: the node, or why there is none, and how every plugin judged.
// Plain values.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "placement/profile.hpp"

namespace plim::placement {

// A row of the engine's node table. It keeps its meaning until the engine is changed.
using NodeIndex = std::uint32_t;

// Whether removing other pods could help.
enum class RejectCode : std::uint8_t { unschedulable, unresolvable };

struct ExtenderRejection {
  std::string node;
  RejectCode code = RejectCode::unschedulable;
  std::string reason;  // "": the extender did not return the node and gave no reason
};

// The scores of one extender: 0 to 10 per node, to be multiplied by its weight and by 10.
struct ExtenderScores {
  std::string extender;  // its URL
  std::int64_t weight = 1;
  std::vector<std::pair<std::string, std::int64_t>> nodes;
};

// What extenders answered about a pod and the nodes they were asked about.
struct ExtenderAnswers {
  std::vector<std::string> passed;  // sorted
  std::vector<ExtenderRejection> rejections;
  std::vector<ExtenderScores> scores;
};

class DecisionTimes;  // decision_times.hpp

struct DecideOptions {
  static constexpr std::size_t kAllRows = std::numeric_limits<std::size_t>::max();

  std::size_t rows = 0;    // how many of the best nodes to describe
  std::size_t named = 3;   // with rows: rejected nodes per reason to describe
  std::uint64_t draw = 0;  // decides between equals; any number will do
  WallTime now{};          // to find inventories that are too old
  // With extenders decide() runs twice: first only for the feasible nodes, then with the extenders'
  // answers about them. Nodes that are not in the answers cannot be chosen, see Decision::unasked.
  bool only_filter = false;
  const ExtenderAnswers* extenders = nullptr;
  bool any_extender = false;       // extenders may score nodes even if no plugin does
  bool skip_nominated = false;     // an extender has rejected the nominated node
  DecisionTimes* times = nullptr;  // receives how long each step took
};

struct PluginScore {
  PluginId plugin{};
  std::int64_t raw = 0, normalized = 0, weighted = 0;
};

// The source of what is known about a node's images.
struct ImagesKnown {
  InventorySource by = InventorySource::StatusOnly;
  // The report in use; if none is fresh, the newest of those that are too old.
  std::optional<InventorySource> reporter = {};
  Nanos age{};
  // Images that the node counts as having only because pods that need them are bound to it.
  std::size_t by_pods = 0;
  bool only_by_pods = false;  // no report has any of the pod's images

  bool operator==(const ImagesKnown&) const = default;
};

struct ExtenderPoints {
  std::string extender;  // its URL
  std::int64_t weight = 1, raw = 0, weighted = 0;
};

// One feasible node. Plugins that had nothing to say about this pod are left out.
struct ScoredNode {
  std::string node;
  std::int64_t total = 0;
  std::vector<PluginScore> scores;
  std::vector<ExtenderPoints> extenders = {};
  std::int64_t missing_bytes = 0;
  ImagesKnown images = {};
};

// Nodes that the same plugin rejected for the same reasons.
struct Rejection {
  std::optional<PluginId> plugin;  // none: an extender
  RejectCode code = RejectCode::unschedulable;
  std::vector<std::string> reasons;
  std::vector<NodeIndex> nodes;
  // What the plugin compared on the first of them; "" if it gives no details.
  std::vector<std::string> details = {};
};

// How one of several nodes with the same total was chosen.
enum class TieRule : std::uint8_t { none, locality, random, first };

std::string_view name_of(TieRule rule);  // "" for none

struct Decision {
  enum class Outcome : std::uint8_t { chosen, single_feasible, unschedulable, error };

  Outcome outcome = Outcome::error;
  std::string node;     // "" for none
  std::string message;  // FailedScheduling without the post-filter text, or the error
  // If the pod was rejected before any node was checked: the plugin's message.
  std::string pre_filter_message;
  std::optional<RejectCode> pre_filter_code;
  std::size_t total_nodes = 0, looked_at = 0, feasible = 0;
  std::int64_t total = 0;                 // score of the node
  std::size_t tie_size = 0;               // how many nodes had the best total
  TieRule tie_rule = TieRule::none;       // how one of them was chosen
  std::int64_t image_bytes = 0;           // of the pod's images
  std::int64_t missing_bytes = 0;         // those of them that the node does not have
  std::vector<ScoredNode> rows;           // best first, among equals the chosen one
  std::vector<NodeIndex> feasible_nodes;  // only with `rows` or `only_filter`
  std::size_t unasked = 0;                // feasible, but extenders were not asked about them
  bool by_nomination = false;             // only the nominated node was checked, and it is feasible
  std::vector<Rejection> rejections;
  std::vector<PluginId> rejecting_plugins;  // for the queue's hints
  bool rejected_by_extender = false;
};

}  // namespace plim::placement
