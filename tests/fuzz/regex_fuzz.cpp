// A pattern, a line end, a text: rejected, or matched and replaced within limits of time and
// memory.
#include <array>
#include <cstdint>
#include <string_view>

#include "base/regex.hpp"
#include "base/text.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace plim;
  const auto [pattern, rest] = cut({reinterpret_cast<const char*>(data), size}, '\n');
  const std::string_view text = rest.substr(0, 200);
  const auto compiled = Regex::compile(pattern.substr(0, 400));
  if (!compiled) return 0;
  std::array<std::string_view, 4> captures;
  if (compiled->partial_match(text, captures) &&
      (captures[0].data() < text.data() ||
       captures[0].data() + captures[0].size() > text.data() + text.size()))
    __builtin_trap();
  // What matches as a whole matches from the start, and what does that matches somewhere.
  if (compiled->full_match(text) && !compiled->prefix_match(text)) __builtin_trap();
  if (compiled->prefix_match(text) && !compiled->partial_match(text)) __builtin_trap();
  (void)compiled->replace_all(text, "<\\1\\0>");
  return 0;
}
