// One decision as a screen of text, from the JSON of sched/explain_record.hpp.
#pragma once

#include <string>
#include <string_view>

#include "base/json.hpp"

namespace plim::sched {

struct ExplainTableOptions {
  std::size_t rows = 20;  // scored nodes, and refused ones, at most; the rest is counted
};

std::string explain_table(const json::value& record, const ExplainTableOptions& options = {});

// Why the node was not taken: who refused it and by which numbers, or where it fell behind the one
// that was taken.
std::string explain_why_not(const json::value& record, std::string_view node);
// Whether the record still has what that says: of large clusters it keeps a part of the nodes.
bool explain_knows(const json::value& record, std::string_view node);

}  // namespace plim::sched
