// The progress of a run: counts, rates, and the lines that show them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/clock.hpp"
#include "base/json.hpp"
#include "flow/execution_status.hpp"

namespace plim::flow {

// Events per second, mostly of the last half minute. In the first half minute it is the plain
// average, which settles sooner.
class Rate {
 public:
  void update(SteadyTime now, std::uint64_t total);

  double per_second() const { return value_; }

 private:
  std::optional<SteadyTime> start_, last_;
  std::uint64_t first_total_ = 0, last_total_ = 0;
  double value_ = 0;
};

struct RunProgress {
  ExecutionStatus status = ExecutionStatus::running;
  std::uint64_t slices_done = 0;
  std::optional<std::uint64_t> slices_total = {};
  std::uint64_t failed = 0;
  std::uint64_t queued = 0;
  std::uint64_t records_in = 0, records_out = 0, bytes = 0;
  std::uint64_t redispatched = 0, duplicates = 0;
  std::size_t workers = 0;
  std::uint64_t worker_rss = 0;      // of the largest worker so far
  std::uint64_t controller_rss = 0;  // current value
  double slices_per_second = 0, records_per_second = 0, bytes_per_second = 0;
  Nanos elapsed = {};

  // None if it cannot be estimated yet.
  std::optional<std::chrono::seconds> eta() const;
};

std::string progress_line(const RunProgress& progress);
std::string final_line(const RunProgress& progress);
json::object to_event(const RunProgress& progress, std::string_view event);

std::string human_count(double value);  // "950", "12.3k", "4.00M"
std::string human_bytes(double value);  // "12.3 MB"

}  // namespace plim::flow
