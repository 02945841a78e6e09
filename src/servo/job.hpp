// Finds out from one pod object whether the pod is a job, and which of its runs have ended.
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

// Whether a pod is a job. At admission the pod has no status and no uid, and may have no name.
struct JobFinding {
  std::string app = {};
  const json::value* container = nullptr;  // the measured one, in the pod; null: not a job
  // Why a pod of a watched namespace that looks like a job is not one: a name of AppIdMiss or
  // "container". "" if the pod is not meant to be a job.
  std::string_view miss = {};
};

JobFinding find_job(const json::value& pod, std::string_view ns, const JobRules& rules);

struct Sighting {
  bool is_job = false;
  std::string_view miss = {};          // as in JobFinding
  std::vector<loop::RunRecord> ended;  // runs whose end is visible
  // The current run as if the pod were deleted now; JobWatch reports it if the pod disappears.
  std::optional<loop::RunRecord> open;
};

enum class Seen { present, deleted };

// A pure function. The pod may be any JSON: a field of the wrong type counts as absent.
Sighting look_at(const json::value& pod, const JobRules& rules, Seen seen, WallTime now);

}  // namespace plim::servo
