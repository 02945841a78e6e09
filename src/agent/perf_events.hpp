// Events of the performance counters: their names, and whether this machine could count them.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace plim::agent {

struct PerfEvent {
  enum class Kind {
    hardware,  // the kernel knows the code of this CPU
    software,  // counted by the kernel itself
    raw,       // the code was given: "name__rD081"
    model,     // predefined, with a code for each model of CPU
  };
  std::string name;
  Kind kind = Kind::hardware;
  std::uint64_t config = 0, config1 = 0;
};

Result<PerfEvent> parse_perf_event(std::string_view name);

// Why events cannot be counted, for a metric and for people; both empty: they can.
struct PerfRefusal {
  std::string reason;  // "no_pmu"
  std::string text = {};
};

// What perf_event_open said to each hardware event, 0 when it was fine.
PerfRefusal judge_perf(std::span<const int> errors);
// Opens each for a moment, for all of a CPU as cgroups need it.
PerfRefusal probe_perf(std::span<const PerfEvent> events);

}  // namespace plim::agent
