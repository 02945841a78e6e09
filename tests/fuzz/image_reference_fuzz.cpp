// A reference that parses is one spelling of itself.
#include <cstdlib>

#include "loop/image_reference.hpp"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  auto parsed = plim::loop::ImageReference::parse(text);
  if (!parsed) return 0;
  auto again = plim::loop::ImageReference::parse(parsed->to_string());
  if (!again || *again != *parsed) std::abort();
  if (parsed->tagged().empty() && parsed->pinned().empty()) std::abort();
  return 0;
}
