#include "agent/hardware_sources.hpp"

#include <filesystem>
#include <unistd.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "agent/perf_events.hpp"

namespace plim::agent {
namespace {

struct Refusal {
  std::string reason, text;
};

Refusal refuse_perf(const MeasureConfig& config, const node::CgroupLayout& layout) {
  std::vector<PerfEvent> events;
  for (const std::string& name : config.event_names)
    if (auto event = parse_perf_event(name)) events.push_back(std::move(*event));
  if (PerfRefusal no = probe_perf(events); !no.reason.empty()) return {no.reason, no.text};
  if (layout.find("perf_event") == nullptr && layout.unified() == nullptr)
    return {"no_hierarchy", "there is no cgroup hierarchy with perf_event"};
  return {"not_supported", "this version does not count perf events"};
}

Refusal refuse_resctrl(const std::string& host_root) {
  const std::string root = host_root + "/sys/fs/resctrl";
  const auto there = [&](const char* path) {
    return ::access(fmt::format("{}/{}", root, path).c_str(), R_OK) == 0;
  };
  if (!there("tasks"))
    return {"not_mounted", fmt::format("{} does not exist: run mount -t resctrl resctrl "
                                       "/sys/fs/resctrl, if the CPU has RDT",
                                       root)};
  if (!there("mon_data/mon_L3_00/llc_occupancy") && !there("mon_data/mon_L3_00/mbm_total_bytes"))
    return {"no_monitoring", fmt::format("{} has no monitoring: the CPU cannot measure caches or "
                                         "memory bandwidth",
                                         root)};
  return {"not_supported", "this version does not read resctrl"};
}

Refusal refuse_uncore(const std::string& host_root) {
  std::error_code error;
  for (std::filesystem::directory_iterator it(host_root + "/sys/devices", error), end;
       !error && it != end; it.increment(error))
    if (it->path().filename().string().starts_with("uncore_"))
      return {"not_supported", "this version does not count uncore events"};
  return {"no_pmu", "this machine has no uncore counters"};
}

}  // namespace

Result<HardwareSources> probe_hardware(const MeasureConfig& config,
                                       const node::CgroupLayout& layout,
                                       const std::string& host_root) {
  HardwareSources out;
  const auto add = [&](const char* source, const Refusal& no) {
    out.states.push_back({.source = source, .up = false, .reason = no.reason});
  };
  if (config.perf_required || !config.event_names.empty()) {
    const Refusal no = refuse_perf(config, layout);
    if (config.perf_required)
      return fail(Code::unavailable, "perf_required is true, but " + no.text);
    out.warnings.push_back("event_names: " + no.text);
    add("perf", no);
  }
  if (config.rdt_enabled.value_or(true)) {
    const Refusal no = refuse_resctrl(host_root);
    if (config.rdt_enabled) return fail(Code::unavailable, "rdt_enabled is true, but " + no.text);
    add("resctrl", no);
  }
  if (config.uncore_wanted) {
    const Refusal no = refuse_uncore(host_root);
    out.warnings.push_back("uncore_event_names: " + no.text);
    add("uncore", no);
  }
  if (!config.unused.empty())
    out.warnings.push_back(fmt::format("these options have no effect in this version: {}",
                                       fmt::join(config.unused, ", ")));
  return out;
}

}  // namespace plim::agent
