#include "base/base64.hpp"

#include <array>
#include <cstdint>

#include <fmt/format.h>

namespace plim {
namespace {

constexpr std::string_view kBase64Alphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::uint8_t kForeign = 0xff;

constexpr std::array<std::uint8_t, 256> kValues = [] {
  std::array<std::uint8_t, 256> values{};
  values.fill(kForeign);
  for (std::size_t i = 0; i < kBase64Alphabet.size(); ++i)
    values[static_cast<unsigned char>(kBase64Alphabet[i])] = static_cast<std::uint8_t>(i);
  return values;
}();

}  // namespace

std::string base64_encode(std::string_view bytes) {
  std::string out((bytes.size() + 2) / 3 * 4, '=');
  char* to = out.data();
  const auto byte = [&](std::size_t i) -> std::uint32_t {
    return static_cast<unsigned char>(bytes[i]);
  };
  std::size_t i = 0;
  for (; i + 3 <= bytes.size(); i += 3) {
    const std::uint32_t group = byte(i) << 16 | byte(i + 1) << 8 | byte(i + 2);
    for (int shift = 18; shift >= 0; shift -= 6) *to++ = kBase64Alphabet[group >> shift & 63];
  }
  if (const std::size_t rest = bytes.size() - i; rest > 0) {
    const std::uint32_t group = byte(i) << 16 | (rest == 2 ? byte(i + 1) << 8 : 0);
    for (std::size_t k = 0; k <= rest; ++k) *to++ = kBase64Alphabet[group >> (18 - 6 * k) & 63];
  }
  return out;
}

Result<std::string> base64_decode(std::string_view text) {
  std::string out;
  out.reserve(text.size() / 4 * 3);
  std::uint32_t group = 0;
  int characters = 0;  // of the current group
  int padding = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (c == '\n' || c == '\r') continue;
    std::uint8_t value = kValues[static_cast<unsigned char>(c)];
    bool fits = c == '=' ? characters >= 2 && padding < 2 : value != kForeign && padding == 0;
    if (!fits) return fail(Code::invalid, fmt::format("not base64 at character {}", i + 1));
    padding += c == '=';
    group = group << 6 | (c == '=' ? 0u : value);
    if (++characters < 4) continue;
    for (int k = 0; k < 3 - padding; ++k) out += static_cast<char>(group >> (16 - 8 * k) & 0xff);
    group = 0;
    characters = padding == 0 ? 0 : 5;  // nothing may follow the padding
  }
  if (characters != 0 && characters != 5)
    return fail(Code::invalid, "base64 ends in the middle of a group of four characters");
  return out;
}

}  // namespace plim
