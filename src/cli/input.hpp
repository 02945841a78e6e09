// Reads whole input files.
#pragma once

#include <string>

#include "base/result.hpp"

namespace plim::cli {

// "-" is standard input. Fails above 64 MiB.
Result<std::string> read_input(const std::string& name);

}  // namespace plim::cli
