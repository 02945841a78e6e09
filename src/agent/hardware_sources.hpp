// Checks whether sources of values that need hardware are available.
#pragma once

#include <string>
#include <vector>

#include "agent/config.hpp"
#include "agent/internal_metrics.hpp"
#include "base/result.hpp"
#include "node/cgroup_layout.hpp"

namespace plim::agent {

struct HardwareSources {
  std::vector<SourceState> states = {};
  std::vector<std::string> warnings = {};  // requested sources that are not available
};

// Fails if a required source is not available. `host_root` is "" for this machine.
Result<HardwareSources> probe_hardware(const MeasureConfig& config,
                                       const node::CgroupLayout& layout,
                                       const std::string& host_root);

}  // namespace plim::agent
