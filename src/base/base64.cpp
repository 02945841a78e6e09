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
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::size_t count = std::min<std::size_t>(3, bytes.size() - i);
    std::uint32_t group = 0;
    for (std::size_t k = 0; k < 3; ++k)
      group = group << 8 | (k < count ? static_cast<unsigned char>(bytes[i + k]) : 0u);
    for (std::size_t k = 0; k < 4; ++k)
      out += k <= count ? kBase64Alphabet[group >> (18 - 6 * k) & 63] : '=';
  }
  return out;
}

Result<std::string> base64_decode(std::string_view text) {
  std::string out;
  out.reserve(text.size() / 4 * 3);
  std::uint32_t group = 0;
  int characters = 0;  // of the group under way
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
