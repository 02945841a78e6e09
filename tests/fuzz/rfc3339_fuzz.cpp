// Whatever parses prints and parses again to the same value.
#include <cstdlib>

#include "base/rfc3339.hpp"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  std::string_view text(reinterpret_cast<const char*>(data), size);
  auto parsed = plim::parse_rfc3339(text);
  if (!parsed) return 0;
  auto again = plim::parse_rfc3339(plim::format_rfc3339_nano(*parsed));
  if (!again || *again != *parsed) std::abort();
  return 0;
}
