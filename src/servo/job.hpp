// What one look at a pod tells: whether it is a job, and which of its runs have ended.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.hpp"
#include "base/json.hpp"
#include "loop/application_id.hpp"
#include "loop/run_record.hpp"
#include "servo/settings.hpp"

namespace plim::servo {

// A pod as a job, which it may be before it has a status, a uid, or even a name.
struct JobFinding {
  std::string app = {};
  const json::value* container = nullptr;  // the measured one, in the pod; null: it is no job
  // Why a pod of a watched namespace that could be a job is none: a name of AppIdMiss, "container",
  // or "" when it is not meant to be one.
  std::string_view miss = {};
};

JobFinding find_job(const json::value& pod, std::string_view ns, const JobRules& rules);

struct Sighting {
  bool is_job = false;
  std::string_view miss = {};          // as in JobFinding
  std::vector<loop::RunRecord> ended;  // runs whose end is visible
  // The run under way, told as if it were deleted now: what is left to say when the pod vanishes.
  std::optional<loop::RunRecord> open;
};

enum class Seen { present, deleted };

// Pure. The pod may be any JSON: what is missing or of the wrong type reads as absent.
Sighting look_at(const json::value& pod, const JobRules& rules, Seen seen, WallTime now);

}  // namespace plim::servo
