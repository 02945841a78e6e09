// Why a pod is where it is: one decision as people and programs read it. The JSON is published in
// docs/schema/explain.json; the table of `plimsoll explain pod` is made from that JSON, so it is
// the same for a local and a remote scheduler.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "base/json.hpp"
#include "sched/vocabulary.hpp"

namespace plim::sched {

struct ExplainRecord {
  // Nodes that one plugin rejected for the same reasons.
  struct Rejected {
    std::string plugin;
    RejectCode code = RejectCode::unschedulable;
    std::string reason;  // several are joined by ", "
    std::size_t count = 0;
    std::vector<std::string> samples;  // all of them if the caller asked for all nodes
    std::vector<std::string> details;  // the numbers compared, one per sample, "" for none
  };

  struct PostFilter {
    std::string message;
    std::string nominated;             // the node that is to be freed, "" for none
    std::vector<std::string> victims;  // namespace/name
  };

  // The scores of kube-scheduler's ImageLocality, if the profile uses another formula.
  struct Compat {
    std::int64_t total = 0;                                    // of the node that was chosen
    std::vector<std::pair<std::string, std::int64_t>> scores;  // as the rows, before the weight
  };

  std::string ns, name, uid;
  std::string profile;
  std::int64_t attempt = 1;
  WallTime started{};
  Nanos took{};
  std::uint64_t version = 0;            // of the engine's state; 0 if not counted
  std::vector<WeightedPlugin> plugins;  // those that apply to the pod, in their order
  LocalityMode mode = LocalityMode::Compat;
  Decision decision;                 // without node indexes, which become invalid
  std::string message;               // the whole text of FailedScheduling; "" with a node
  std::vector<std::string> details;  // of ImageLocality, one per row, "" for none
  std::vector<Rejected> rejected;
  std::optional<PostFilter> post_filter;
  std::optional<Compat> compat;
  std::vector<std::string> notes;
  // Not the decision itself, but what it would be now, with the pod on its node if it has one.
  bool is_recomputed = false;
};

// Whether the record has every node, or this one.
bool has_all_nodes(const ExplainRecord& record);
bool has_node(const ExplainRecord& record, std::string_view node);

json::object explain_to_json(const ExplainRecord& record);

// "771 kB", as crictl shows sizes: three digits, decimal units.
std::string image_size_text(std::int64_t bytes);

}  // namespace plim::sched
