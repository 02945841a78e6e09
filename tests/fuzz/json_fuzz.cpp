// Whatever parses prints and parses again to the same text, and has no mistake to explain.
#include <cstdlib>

#include "base/json.hpp"
#include "base/json_mistake.hpp"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  std::string_view text(reinterpret_cast<const char*>(data), size);
  auto parsed = plim::parse_json(text, "fuzz");
  if (!parsed) return 0;
  if (plim::find_json_mistake(text)) std::abort();
  std::string printed = plim::to_json(*parsed);
  auto again = plim::parse_json(printed);
  if (!again || plim::to_json(*again) != printed) std::abort();
  return 0;
}
