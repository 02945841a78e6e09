// Plans the next step of a Job: which pods to start, to end, to count. Pure.
//
// Every pod has a finalizer until it is counted, so that a pod which is deleted early still exists
// to be counted. Counting takes two steps: write the UID to the status, then remove the finalizer.
// The UID becomes part of the number only when the cache shows the pod without the finalizer. So
// every step can be repeated after a failure without counting a pod twice.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/json.hpp"
#include "local/controllers/owned_object.hpp"

namespace plim::local::controllers {

inline constexpr std::string_view kJobFinalizer = "batch.kubernetes.io/job-tracking";
inline constexpr std::string_view kJobIndex = "batch.kubernetes.io/job-completion-index";

// Consecutive failures delay the next pod. Kept in memory only.
struct JobBackoff {
  std::int64_t failures = 0;
  std::optional<WallTime> last = {};

  // 10 s after the first failure, doubling, at most ten minutes.
  std::optional<WallTime> free_from() const;
};

struct JobInput {
  ObjectPointer job;
  std::vector<PodPointer> pods;  // all pods of the Job, including ended ones
  bool current = true;           // the cache shows all our changes, so more may be done
  JobBackoff backoff = {};
};

struct JobEvent {
  bool warning = false;
  std::string reason, message;
};

// Carried out in this order. Each step may be repeated if a later one fails.
struct JobPlan {
  std::vector<PodPointer> end = {};      // active pods of a failed Job: they count as failed
  std::vector<PodPointer> give_up = {};  // surplus or suspended pods: they do not count
  std::vector<json::value> create = {};
  json::value status = {};
  std::vector<PodPointer> release = {};  // remove their finalizers after writing the status
  JobBackoff backoff = {};               // keep it after writing the status
  std::vector<JobEvent> events = {};
  std::optional<WallTime> look_again = {};
};

inline constexpr std::size_t kJobBurst = 500;  // pods started, ended or counted at once

bool is_finished(const json::value& job);  // Complete or Failed

JobPlan plan_job(const JobInput& input, WallTime now);

}  // namespace plim::local::controllers
