// The environment variables that tell a container its CPUs.
#pragma once

#include <string>

#include "node/device_messages.hpp"
#include "pools/pool.hpp"

namespace plim::pools {

// The first CPU-Pooler documented "4,5,6". The newest one writes "4-6", which breaks programs
// that split at commas.
enum class CpuListFormat { list, ranges };

std::string format_cpus(const CpuSet& cpus, CpuListFormat format);
// "PLIMSOLL_CPUS_EXCLUSIVE_POOL"
std::string pool_variable(std::string_view prefix, std::string_view pool);

node::DeviceGrants grants_of(const Pool& pool, const CpuSet& cpus, const Topology& topology,
                             CpuListFormat format);

}  // namespace plim::pools
