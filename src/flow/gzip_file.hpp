// gzip for whole files of Flow's; several members one after the other are one text, as gzip says.
#pragma once

#include <string>
#include <string_view>

#include "base/result.hpp"
#include "flow/batch.hpp"

namespace plim::flow {

// The text, in the arena. A few bytes can stand for gigabytes: Code::too_large beyond `limit`.
Result<std::string_view> gunzip_into(Arena& arena, std::string_view packed, std::size_t limit);
Result<void> gzip_into(std::string& out, std::string_view bytes);

}  // namespace plim::flow
