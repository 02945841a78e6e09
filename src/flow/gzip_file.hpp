// Reads and writes whole gzip files. Several members in a row are one text, as the format defines.
#pragma once

#include <string>
#include <string_view>

#include "base/result.hpp"
#include "flow/batch.hpp"

namespace plim::flow {

// Decompresses into the arena. A few bytes can expand to gigabytes: Code::too_large above `limit`.
Result<std::string_view> gunzip_into(Arena& arena, std::string_view packed, std::size_t limit);
Result<void> gzip_into(std::string& out, std::string_view bytes);

}  // namespace plim::flow
