// How much has been complained about: a process with many warnings wants a look into its log.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace plim::log {

struct LineCount {
  std::string part;
  std::uint64_t warnings = 0, errors = 0;
};

// Of lines written since the process started, by part. Thread-safe.
std::vector<LineCount> line_counts();

}  // namespace plim::log
