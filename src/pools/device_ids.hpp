// Names of devices. Those of exclusive pools are CPU numbers; a shared pool has one for each unit.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace plim::pools {

// Three characters at most, since a list of all devices has to fit into one message. None of them
// is a number, so that whoever reads the kubelet's records can tell both kinds apart without
// knowing the configuration of that time.
std::vector<std::string> shared_ids(int count);

// "12"; nullopt: not the device of an exclusive pool.
std::optional<int> cpu_of_id(std::string_view id);

}  // namespace plim::pools
