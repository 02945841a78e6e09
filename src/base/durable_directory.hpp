// Directories whose names survive a power failure.
#pragma once

#include <string>
#include <sys/types.h>

#include "base/result.hpp"

namespace plim {

// As make_directories(), and the names of the directories that it creates are on disk when it
// returns. Otherwise a power failure could take away a new directory with all synced files in it.
Result<void> make_durable_directories(const std::string& path, mode_t mode = 0755);

}  // namespace plim
