// Job files as the flow commands read them.
#pragma once

#include <optional>
#include <string>

#include "cli/run.hpp"
#include "flow/job.hpp"

namespace plim::cli {

inline constexpr int kUnusableJob = 2;  // exit code

// Warnings, and every problem of an invalid one, are written to standard error; nothing: invalid. A
// file that cannot be read or parsed is a failure with exit code 2.
Outcome<std::optional<flow::Job>> read_job(Context& context, const std::string& path);

}  // namespace plim::cli
