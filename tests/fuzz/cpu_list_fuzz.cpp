// Whatever parses prints and parses again to the same value.
#include <cstdlib>

#include "base/cpu_list.hpp"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  std::string_view text(reinterpret_cast<const char*>(data), size);
  auto parsed = plim::parse_cpu_list(text);
  if (!parsed) return 0;
  auto again = plim::parse_cpu_list(parsed->to_string());
  if (!again || *again != *parsed) std::abort();
  return 0;
}
