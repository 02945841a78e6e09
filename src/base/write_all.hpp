// Writes a whole text to an open file. For .cpp files of base only.
#pragma once

#include <string>
#include <string_view>

#include "base/result.hpp"

namespace plim {

// `path` is for the message.
Result<void> write_all(int fd, std::string_view content, const std::string& path);

}  // namespace plim
