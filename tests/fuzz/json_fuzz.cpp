// Whatever parses prints and parses again to the same text; whatever does not has a message.
#include <cstdlib>

#include "base/json.hpp"
#include "base/json_mistake.hpp"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  std::string_view text(reinterpret_cast<const char*>(data), size);
  auto parsed = plim::parse_json(text, "fuzz");
  // Both readers of the grammar must agree, or an error would have no explanation.
  if (parsed.has_value() == plim::find_json_mistake(text).has_value()) std::abort();
  if (!parsed) return 0;
  std::string printed = plim::to_json(*parsed);
  auto again = plim::parse_json(printed);
  if (!again || plim::to_json(*again) != printed) std::abort();
  return 0;
}
