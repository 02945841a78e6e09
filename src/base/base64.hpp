// Base 64 with the standard alphabet and padding, as Kubernetes stores Secrets and certificates.
#pragma once

#include <string>
#include <string_view>

#include "base/result.hpp"

namespace plim {

std::string base64_encode(std::string_view bytes);
// Line ends anywhere are skipped, as Go does; any other foreign character is an error. The error
// never shows the text, which may be a secret.
Result<std::string> base64_decode(std::string_view text);

}  // namespace plim
