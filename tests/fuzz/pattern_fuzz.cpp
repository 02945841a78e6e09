// A pattern, a line end, a text: refused or matched, without taking for ever.
#include <cstdint>

#include "base/text.hpp"
#include "local/apiserver/crd/pattern.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace plim;
  const auto [pattern, text] = cut({reinterpret_cast<const char*>(data), size}, '\n');
  if (const auto parsed = local::apiserver::Pattern::parse(pattern))
    parsed->matches(text.substr(0, 200));
  return 0;
}
