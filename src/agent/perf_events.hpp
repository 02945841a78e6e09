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
    hardware,  // the kernel has the code for each CPU
    software,  // the kernel counts these events
    raw,       // the name contains the code: "name__rD081"
    model,     // predefined, with a code for each CPU model
  };
  std::string name;
  Kind kind = Kind::hardware;
  std::uint64_t config = 0, config1 = 0;
};

Result<PerfEvent> parse_perf_event(std::string_view name);

// Why events cannot be counted, as a metric label and as a message; both empty: they can.
struct PerfRefusal {
  std::string reason;  // "no_pmu"
  std::string text = {};
};

// The errno of perf_event_open for each hardware event; 0: success.
PerfRefusal judge_perf(std::span<const int> errors);
// Opens and closes each event system-wide on one CPU, as cgroup events need it.
PerfRefusal probe_perf(std::span<const PerfEvent> events);

}  // namespace plim::agent
