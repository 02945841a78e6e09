// The device lists of pools, as the kubelet gets them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "node/device_messages.hpp"
#include "pools/pool_state.hpp"

namespace plim::pools {

std::vector<node::Device> devices_of(const PoolState& state, std::string_view pool);
// Pools with an endpoint: advertised pools, and removed pools that still drain.
std::vector<std::string> endpoints_of(const PoolState& state);
// A version of devices_of() for a shared pool: while it is equal, thousands of devices need not be
// compared. "" for other pools.
std::string shared_list_key(const PoolState& state, std::string_view pool);
// Which of the offered devices the kubelet should allocate.
node::DeviceIds preferred_devices(const PoolState& state, std::string_view pool,
                                  const node::PreferredRequest& request);

}  // namespace plim::pools
