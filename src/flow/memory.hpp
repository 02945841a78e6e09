// Memory use of this process.
#pragma once

#include <cstdint>

namespace plim::flow {

std::uint64_t resident_bytes();  // 0 if unknown

}  // namespace plim::flow
