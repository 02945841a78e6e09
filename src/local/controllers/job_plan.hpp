// What a Job does next: which pods to start, to end, to count. Pure.
//
// Every pod carries a finalizer until it is counted, so that one which is deleted before anybody
// looked is still there to be counted. Counting takes two steps: the uid goes into the status, then
// the finalizer comes off; only when the cache shows the pod without it does the uid become part of
// the number. Whatever fails in between is done again without counting twice.
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

// Failures in a row delay the next pod. Kept in memory only.
struct JobBackoff {
  std::int64_t failures = 0;
  std::optional<WallTime> last = {};

  // 10 s after the first failure, doubling, at most ten minutes.
  std::optional<WallTime> free_from() const;
};

struct JobInput {
  ObjectPointer job;
  std::vector<PodPointer> pods;  // all that are the Job's, ended ones too
  bool current = true;           // the cache shows everything we did: more may be done
  JobBackoff backoff = {};
};

struct JobEvent {
  bool warning = false;
  std::string reason, message;
};

// In this order. Each step may be repeated if a later one fails.
struct JobPlan {
  std::vector<PodPointer> end = {};      // active pods of a Job that has failed: they count
  std::vector<PodPointer> give_up = {};  // too many or suspended: they do not count
  std::vector<json::value> create = {};
  json::value status = {};
  std::vector<PodPointer> release = {};  // their finalizers, once the status is written
  JobBackoff backoff = {};               // to be kept once the status is written
  std::vector<JobEvent> events = {};
  std::optional<WallTime> look_again = {};
};

inline constexpr std::size_t kJobBurst = 500;  // pods started, ended or counted in one go

bool is_finished(const json::value& job);  // Complete or Failed

JobPlan plan_job(const JobInput& input, WallTime now);

}  // namespace plim::local::controllers
