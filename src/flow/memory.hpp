// What this process has in memory.
#pragma once

#include <cstdint>

namespace plim::flow {

std::uint64_t resident_bytes();  // 0 if the kernel does not say

}  // namespace plim::flow
