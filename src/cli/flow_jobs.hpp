// Reads job files for the flow commands.
#pragma once

#include <optional>
#include <string>

#include "cli/run.hpp"
#include "flow/job.hpp"

namespace plim::cli {

inline constexpr int kUnusableJob = 2;  // exit code

// Writes warnings, and every problem of an invalid job, to standard error. Returns nothing if the
// job is invalid. A file that cannot be read or parsed is a failure with exit code 2.
Outcome<std::optional<flow::Job>> read_job(Context& context, const std::string& path);

}  // namespace plim::cli
