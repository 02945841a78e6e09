// Classifies the pods of one Job. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "local/controllers/job_indexes.hpp"
#include "local/controllers/job_plan.hpp"

namespace plim::local::controllers {

// The fields of a Job that the planner reads repeatedly.
struct JobFacts {
  explicit JobFacts(const Object& job);

  const Object* object;
  bool indexed, suspended, replace_failed_only, restarts_in_place;
  std::int64_t parallelism;
  std::optional<std::int64_t> completions;  // none: a work queue
  std::int64_t backoff_limit;
  std::optional<std::chrono::seconds> deadline;
  json::value status;
  std::set<std::string> uncounted_succeeded, uncounted_failed;
};

// The completion index of a pod; none for pods of Jobs without indexes, or with an invalid one.
std::optional<std::int64_t> index_of(const kube::Pod& pod);
// Failed, or deleted before it ended.
bool has_failed(const kube::Pod& pod, const JobFacts& job);
WallTime finish_time(const kube::Pod& pod, WallTime now);

struct JobPods {
  JobPods(const JobFacts& job, const std::vector<PodPointer>& pods);

  std::vector<PodPointer> active;
  std::vector<PodPointer> new_succeeded, new_failed;  // ended, not in the status yet
  std::set<std::string> held;                         // UIDs of pods with our finalizer
  std::int64_t ready = 0;
  std::int64_t terminating = 0;
  std::int64_t restarts = 0;  // restarts of containers in pods that have not ended
};

// The pods to delete: `surplus` of them; for Indexed Jobs also those of a duplicate or high index.
std::vector<PodPointer> pods_to_give_up(const JobFacts& job, const JobPods& pods,
                                        const JobIndexes& done, std::size_t surplus, WallTime now);

// A new pod; `index` for Indexed Jobs.
json::value job_pod(const Object& job, std::optional<std::int64_t> index);

}  // namespace plim::local::controllers
