// One decision as a screen of text, from the JSON of sched/explain_record.hpp.
#pragma once

#include <string>
#include <string_view>

#include "base/json.hpp"

namespace plim::sched {

struct ExplainTableOptions {
  std::size_t rows = 20;  // at most so many scored and rejected nodes; the rest is only counted
};

std::string explain_table(const json::value& record, const ExplainTableOptions& options = {});

// Why the node was not chosen: which plugin rejected it and by which numbers, or where it scored
// less than the chosen one.
std::string explain_why_not(const json::value& record, std::string_view node);
// Whether the record has this node: for large clusters it keeps only some nodes.
bool explain_knows(const json::value& record, std::string_view node);

}  // namespace plim::sched
