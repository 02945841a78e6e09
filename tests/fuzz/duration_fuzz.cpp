// Whatever parses prints and parses again to the same value.
#include <cstdlib>

#include "base/duration.hpp"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  std::string_view text(reinterpret_cast<const char*>(data), size);
  auto parsed = plim::parse_duration(text);
  if (!parsed) return 0;
  auto again = plim::parse_duration(plim::format_duration(*parsed));
  if (!again || *again != *parsed) std::abort();
  return 0;
}
