// Sources of values that need hardware: whether they are there, and what follows when not.
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
  std::vector<std::string> warnings = {};  // what was asked for and is not there
};

// Fails when the configuration says that one must be there. `host_root` is "" for this machine.
Result<HardwareSources> probe_hardware(const MeasureConfig& config,
                                       const node::CgroupLayout& layout,
                                       const std::string& host_root);

}  // namespace plim::agent
