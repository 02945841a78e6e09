#include "agent/perf_events.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <vector>

#include <fmt/format.h>

#include "base/fd.hpp"
#include "base/text.hpp"

namespace plim::agent {
namespace {

struct NamedEvent {
  std::string_view name;
  PerfEvent::Kind kind;
  std::uint64_t config = 0;
};

constexpr std::array kNamedEvents{
    NamedEvent{"task_cycles", PerfEvent::Kind::hardware, PERF_COUNT_HW_CPU_CYCLES},
    NamedEvent{"task_instructions", PerfEvent::Kind::hardware, PERF_COUNT_HW_INSTRUCTIONS},
    NamedEvent{"task_cache_references", PerfEvent::Kind::hardware, PERF_COUNT_HW_CACHE_REFERENCES},
    NamedEvent{"task_cache_misses", PerfEvent::Kind::hardware, PERF_COUNT_HW_CACHE_MISSES},
    NamedEvent{"task_sw_task_clock", PerfEvent::Kind::software, PERF_COUNT_SW_TASK_CLOCK},
    NamedEvent{"task_sw_context_switches", PerfEvent::Kind::software,
               PERF_COUNT_SW_CONTEXT_SWITCHES},
    NamedEvent{"task_sw_cpu_migrations", PerfEvent::Kind::software, PERF_COUNT_SW_CPU_MIGRATIONS},
    NamedEvent{"task_sw_page_faults", PerfEvent::Kind::software, PERF_COUNT_SW_PAGE_FAULTS},
    NamedEvent{"task_stalled_mem_loads", PerfEvent::Kind::model},
    NamedEvent{"task_offcore_requests_l3_miss_demand_data_rd", PerfEvent::Kind::model},
    NamedEvent{"task_offcore_requests_demand_data_rd", PerfEvent::Kind::model},
    NamedEvent{"task_offcore_requests_demand_rfo", PerfEvent::Kind::model},
    NamedEvent{"task_offcore_requests_outstanding_l3_miss_demand_data_rd", PerfEvent::Kind::model},
    NamedEvent{"task_mem_load_retired_local_pmm", PerfEvent::Kind::model},
    NamedEvent{"task_mem_load_retired_local_dram", PerfEvent::Kind::model},
    NamedEvent{"task_mem_load_retired_remote_dram", PerfEvent::Kind::model},
    NamedEvent{"task_mem_inst_retired_loads", PerfEvent::Kind::model},
    NamedEvent{"task_mem_inst_retired_stores", PerfEvent::Kind::model},
    NamedEvent{"task_dtlb_load_misses", PerfEvent::Kind::model},
};

// "D081": event and umask; "A31414": and the mask of counts; ten more digits: config1.
bool parse_raw(std::string_view digits, PerfEvent& out) {
  constexpr std::size_t kShort = 4, kMasked = 6, kLong = 16;
  if (digits.size() != kShort && digits.size() != kMasked && digits.size() != kLong) return false;
  const auto hex = [&](std::size_t at, std::size_t length) {
    return parse_int<std::uint64_t>(digits.substr(at, length), 16);
  };
  const auto event = hex(0, 2), umask = hex(2, 2);
  if (!event || !umask) return false;
  out.config = *event | *umask << 8;
  if (digits.size() > kShort) {
    const auto mask = hex(4, 2);
    if (!mask) return false;
    out.config |= *mask << 24;
  }
  if (digits.size() < kLong) return true;
  const auto more = hex(kMasked, kLong - kMasked);
  out.config1 = more.value_or(0);
  return more.has_value();
}

int error_of_opening(const PerfEvent& event) {
  perf_event_attr attr{};
  attr.size = sizeof attr;
  attr.type = event.kind == PerfEvent::Kind::raw        ? PERF_TYPE_RAW
              : event.kind == PerfEvent::Kind::software ? PERF_TYPE_SOFTWARE
                                                        : PERF_TYPE_HARDWARE;
  attr.config = event.config;
  attr.config1 = event.config1;
  attr.disabled = 1;
  attr.exclude_guest = 1;
  constexpr int kEveryone = -1, kFirstCpu = 0, kNoGroup = -1;
  const Fd fd(static_cast<int>(
      ::syscall(SYS_perf_event_open, &attr, kEveryone, kFirstCpu, kNoGroup, PERF_FLAG_FD_CLOEXEC)));
  return fd ? 0 : errno;
}

bool is_one_of(int error, std::initializer_list<int> list) {
  return std::ranges::find(list, error) != list.end();
}

}  // namespace

Result<PerfEvent> parse_perf_event(std::string_view name) {
  for (const NamedEvent& known : kNamedEvents)
    if (known.name == name)
      return PerfEvent{.name = std::string(name), .kind = known.kind, .config = known.config};
  const std::size_t at = name.rfind("__r");
  PerfEvent raw{.name = std::string(name), .kind = PerfEvent::Kind::raw};
  if (at != name.npos && at > 0 && parse_raw(name.substr(at + 3), raw)) return raw;
  std::string known;
  for (const NamedEvent& one : kNamedEvents)
    fmt::format_to(std::back_inserter(known), ", {}", one.name);
  return fail(
      Code::invalid,
      fmt::format("unknown event {}; expected one of{}, or name__rEEUU, name__rEEUUCC with hex "
                  "digits of event, umask and cmask, ten more for config1",
                  quote(name), known.substr(1)));
}

PerfRefusal judge_perf(std::span<const int> errors) {
  const auto any = [&](std::initializer_list<int> list) {
    return std::ranges::any_of(errors, [&](int error) { return is_one_of(error, list); });
  };
  const bool none = !errors.empty() && std::ranges::all_of(errors, [](int error) {
    return is_one_of(error, {ENOENT, EOPNOTSUPP, ENODEV});
  });
  if (none)
    return {"no_pmu",
            "this machine has no performance counters; in a virtual machine, the host must "
            "pass them through"};
  if (any({EACCES, EPERM}))
    return {"permission",
            "no permission to open perf events: the agent needs CAP_PERFMON, or "
            "kernel.perf_event_paranoid of 0 or less"};
  if (any({EMFILE, ENFILE})) return {"fds", "there are not enough descriptors for perf events"};
  return {};
}

PerfRefusal probe_perf(std::span<const PerfEvent> events) {
  std::vector<int> errors;
  for (const PerfEvent& event : events)
    if (event.kind == PerfEvent::Kind::hardware || event.kind == PerfEvent::Kind::raw)
      errors.push_back(error_of_opening(event));
  // Events with codes of CPU models need a PMU, as cycles do.
  const PerfEvent cycles{.name = "task_cycles", .config = PERF_COUNT_HW_CPU_CYCLES};
  if (errors.empty()) errors.push_back(error_of_opening(cycles));
  return judge_perf(errors);
}

}  // namespace plim::agent
