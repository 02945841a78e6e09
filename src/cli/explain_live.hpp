// Decisions of a running scheduler, read from its HTTPS port or from the annotation on the pod.
#pragma once

#include <string>

#include "base/json.hpp"
#include "cli/failures.hpp"
#include "cli/run.hpp"

namespace plim::cli {

struct LiveExplanation {
  json::value record;    // as in docs/schema/explain.json; null if only the annotation exists
  json::value decision;  // the annotation plimsoll.io/decision
  std::string ns, name, node;
  std::string reason;  // why there is no record
};

// `pod` is "web", "shop/web" or "pod/web".
Outcome<LiveExplanation> explain_live(Context& context, const std::string& pod);

// True if the cluster answers that this node does not exist.
bool is_no_node(Context& context, const std::string& name);

// Formats the annotation as a few lines of text.
std::string annotation_text(const LiveExplanation& found);

}  // namespace plim::cli
