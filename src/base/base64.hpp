// Base64 with the standard alphabet and padding, as in Kubernetes Secrets and certificates.
#pragma once

#include <string>
#include <string_view>

#include "base/result.hpp"

namespace plim {

std::string base64_encode(std::string_view bytes);
// Skips line ends anywhere, as Go does; fails at any other invalid character. The error never
// contains the text, which may be a secret.
Result<std::string> base64_decode(std::string_view text);

}  // namespace plim
