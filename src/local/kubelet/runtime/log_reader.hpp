// Reads a container's log: all of it, its last lines, or new lines until the container ends.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.hpp"
#include "base/json.hpp"
#include "base/result.hpp"
#include "base/task.hpp"
#include "local/kubelet/nodes/kubelet_pods.hpp"
#include "local/kubelet/runtime/pod_facts.hpp"
#include "local/kubelet/runtime/pod_files.hpp"
#include "local/kubelet/shim/shim_client.hpp"

namespace plim::local::kubelet {

struct LogLine {
  WallTime time{};
  bool complete = true;
  std::string_view text;
};

std::optional<LogLine> parse_log_line(std::string_view line);

struct LogPlace {
  std::string path;
  std::string running_id;  // "" if the run has ended
};

// Finds the log file. Code::bad_request: the container has not started, or has no previous run.
Result<LogPlace> find_log(const json::value& pod, const PodFacts& facts, const PodFiles& files,
                          const std::string& container, bool previous);

// Applies the options to lines as they come. Pure.
class LogFilter {
 public:
  explicit LogFilter(LogOptions options) : options_(std::move(options)) {}

  // The text to show for the line. Empty: skip the line.
  std::string take(std::string_view line);
  bool full() const;  // the byte limit is reached

 private:
  LogOptions options_;
  std::int64_t bytes_ = 0;
  bool in_line_ = false;
};

// The shim must outlive it.
Task<Result<void>> copy_log(LogPlace place, LogOptions options, ShimClient* shim,
                            std::function<bool(std::string)> write);

}  // namespace plim::local::kubelet
