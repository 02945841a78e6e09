// Decisions of a scheduler that runs: from the port where it keeps them, or as it wrote them on the
// pod.
#pragma once

#include <string>

#include "base/json.hpp"
#include "cli/failures.hpp"
#include "cli/run.hpp"

namespace plim::cli {

struct LiveExplanation {
  json::value record;    // as in docs/schema/explain.json; null when only the annotation is left
  json::value decision;  // of the annotation plimsoll.io/decision
  std::string ns, name, node;
  std::string reason;  // why there is no record
};

// "web", "shop/web" or "pod/web".
Outcome<LiveExplanation> explain_live(Context& context, const std::string& pod);

// Whether the cluster says that it has no such node.
bool is_no_node(Context& context, const std::string& name);

// The few lines that the annotation makes.
std::string annotation_text(const LiveExplanation& found);

}  // namespace plim::cli
