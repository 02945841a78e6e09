// Counts warnings and errors, so that status pages can show them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace plim::log {

struct LineCount {
  std::string part;
  std::uint64_t warnings = 0, errors = 0;
};

// The lines written since the process started, by part. Thread-safe.
std::vector<LineCount> line_counts();

}  // namespace plim::log
