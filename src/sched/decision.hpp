// What a scheduling decision says: the node, or why there is none, and how every plugin judged.
// Plain values.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "sched/profile.hpp"

namespace plim::sched {

// A row of the engine's node table. It keeps its meaning until the engine is changed.
using NodeIndex = std::uint32_t;

// Whether removing other pods could help.
enum class RejectCode : std::uint8_t { unschedulable, unresolvable };

struct ExtenderRejection {
  std::string node;
  RejectCode code = RejectCode::unschedulable;
  std::string reason;
};

struct ExtenderScore {
  std::string node;
  std::int64_t score = 0;  // weighted already
};

struct DecideOptions {
  static constexpr std::size_t kAllRows = std::numeric_limits<std::size_t>::max();

  std::size_t rows = 0;    // how many of the best nodes to describe
  std::size_t named = 3;   // with rows: refused nodes of every reason whose numbers are told
  std::uint64_t draw = 0;  // decides between equals; any number will do
  WallTime now{};          // to tell old inventories from young ones
  // What extenders answered about this very pod; decide is asked again with it.
  std::span<const ExtenderRejection> extender_rejections = {};
  std::span<const ExtenderScore> extender_scores = {};
  bool any_extender = false;  // with one that scores, no plugin is needed to tell nodes apart
};

struct PluginScore {
  PluginId plugin{};
  std::int64_t raw = 0, normalized = 0, weighted = 0;
};

// Where what is known of a node's images comes from.
struct ImagesKnown {
  InventorySource by = InventorySource::StatusOnly;
  // The report that counts, or else the youngest of those that are too old.
  std::optional<InventorySource> reporter = {};
  Nanos age{};

  bool operator==(const ImagesKnown&) const = default;
};

// One feasible node. Plugins that had nothing to say about this pod are left out.
struct ScoredNode {
  std::string node;
  std::int64_t total = 0;
  std::vector<PluginScore> scores;
  std::int64_t missing_bytes = 0;
  ImagesKnown images = {};
};

// Nodes that were refused by the same plugin for the same reasons.
struct Rejection {
  std::optional<PluginId> plugin;  // none: an extender
  RejectCode code = RejectCode::unschedulable;
  std::vector<std::string> reasons;
  std::vector<NodeIndex> nodes;
  // What the plugin compared on the first of them, "" where it does not tell.
  std::vector<std::string> details = {};
};

struct Decision {
  enum class Outcome : std::uint8_t { chosen, single_feasible, unschedulable, error };

  Outcome outcome = Outcome::error;
  std::string node;     // "" for none
  std::string message;  // FailedScheduling without the post-filter text, or the error
  // Refused before any node was looked at: the plugin's message.
  std::string pre_filter_message;
  std::optional<RejectCode> pre_filter_code;
  std::size_t total_nodes = 0, looked_at = 0, feasible = 0;
  std::int64_t total = 0;                 // score of the node
  std::size_t tie_size = 0;               // how many nodes had the best total
  std::string_view tie_rule;              // "", "locality", "random", "first"
  std::int64_t missing_bytes = 0;         // of the pod's images on the node
  std::vector<ScoredNode> rows;           // best first, among equals the chosen one
  std::vector<NodeIndex> feasible_nodes;  // only with rows
  std::vector<Rejection> rejections;
  std::vector<PluginId> rejecting_plugins;  // for the queue's hints
  bool rejected_by_extender = false;
};

}  // namespace plim::sched
