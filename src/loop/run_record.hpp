// One finished run of a job, which the servo stores, sends and shows.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.hpp"
#include "base/json.hpp"
#include "base/result.hpp"

namespace plim::loop {

struct RunRecord {
  enum class Result {
    completed,  // it ran and ended, with any exit code
    failed,     // it never ran, or its end is unknown
    deleted,    // it was deleted before its end was seen
  };

  std::string uid, container;  // the key, together with `restarts`
  std::int64_t restarts = 0;
  std::string ns, pod, app, node, image;
  std::optional<WallTime> created, pod_started, started, finished;
  std::optional<std::int64_t> exit_code;
  Result result = Result::completed;
  std::string reason;                         // as in Kubernetes: Completed, OOMKilled, Evicted
  std::string message;                        // for users, if the run failed
  json::value resources = json::object{};     // of the container, as in the pod
  std::optional<std::int64_t> estimate;       // seconds, from the annotation done-at
  std::optional<std::int64_t> missing_bytes;  // of images, when it was placed
  bool clock_stepped = false;                 // it finished before it began
  WallTime observed{};                        // when the end was seen

  // "<pod uid>/<container>/<restarts>"
  std::string key() const;
  // Whole seconds, as Kubernetes' time stamps; none if it did not run.
  std::optional<std::int64_t> duration() const;

  std::int64_t attempts() const { return restarts + 1; }

  bool succeeded() const { return result == Result::completed && exit_code == 0; }
};

std::string_view name_of(RunRecord::Result result);

json::object run_to_json(const RunRecord& run);
// Ignores unknown members; the key and the application ID are required.
plim::Result<RunRecord> run_from_json(const json::value& value);

}  // namespace plim::loop
