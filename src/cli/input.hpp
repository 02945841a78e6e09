// Reads whole input files.
#pragma once

#include <cstddef>
#include <string>

#include "base/result.hpp"

namespace plim::cli {

inline constexpr std::size_t kLargestInput = std::size_t{64} << 20;

// "-" is standard input. Fails with Code::too_large above `limit` bytes.
Result<std::string> read_input(const std::string& name, std::size_t limit = kLargestInput);

}  // namespace plim::cli
