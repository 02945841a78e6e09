// IDs of devices. In exclusive pools they are CPU numbers; a shared pool has one per unit.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace plim::pools {

// At most three characters, because the list of all devices has to fit into one message. No ID is a
// number, so that a reader of the kubelet's records can tell both kinds apart without the
// configuration of that time.
std::vector<std::string> shared_ids(int count);

// The CPU of an ID such as "12"; nullopt: not a device of an exclusive pool.
std::optional<int> cpu_of_id(std::string_view id);

}  // namespace plim::pools
