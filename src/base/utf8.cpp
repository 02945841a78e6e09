#include "base/utf8.hpp"

#include <algorithm>
#include <array>
#include <iterator>

#include <fmt/format.h>

namespace plim {
namespace {

struct Range {
  char32_t first, last;
};

// The blocks that matter in names and messages, not all of Unicode.
constexpr std::array kZeroWidth{
    Range{0x0300, 0x036f}, Range{0x0483, 0x0489},   Range{0x0591, 0x05bd},   Range{0x0610, 0x061a},
    Range{0x064b, 0x065f}, Range{0x0900, 0x0902},   Range{0x093c, 0x093c},   Range{0x0e31, 0x0e31},
    Range{0x0e34, 0x0e3a}, Range{0x0e47, 0x0e4e},   Range{0x1ab0, 0x1aff},   Range{0x1dc0, 0x1dff},
    Range{0x200b, 0x200f}, Range{0x202a, 0x202e},   Range{0x2060, 0x2064},   Range{0x20d0, 0x20ff},
    Range{0x302a, 0x302d}, Range{0x3099, 0x309a},   Range{0xfe00, 0xfe0f},   Range{0xfe20, 0xfe2f},
    Range{0xfeff, 0xfeff}, Range{0x1f3fb, 0x1f3ff}, Range{0xe0100, 0xe01ef},
};
constexpr std::array kWide{
    Range{0x1100, 0x115f},   Range{0x231a, 0x231b},   Range{0x23e9, 0x23ec},
    Range{0x25fd, 0x25fe},   Range{0x2614, 0x2615},   Range{0x2648, 0x2653},
    Range{0x267f, 0x267f},   Range{0x2693, 0x2693},   Range{0x26a1, 0x26a1},
    Range{0x26aa, 0x26ab},   Range{0x26bd, 0x26be},   Range{0x26d4, 0x26d4},
    Range{0x2705, 0x2705},   Range{0x2728, 0x2728},   Range{0x274c, 0x274c},
    Range{0x2753, 0x2757},   Range{0x2b50, 0x2b50},   Range{0x2e80, 0x303e},
    Range{0x3041, 0x33ff},   Range{0x3400, 0x4dbf},   Range{0x4e00, 0x9fff},
    Range{0xa000, 0xa4cf},   Range{0xa960, 0xa97f},   Range{0xac00, 0xd7a3},
    Range{0xf900, 0xfaff},   Range{0xfe30, 0xfe6f},   Range{0xff00, 0xff60},
    Range{0xffe0, 0xffe6},   Range{0x1f300, 0x1f64f}, Range{0x1f680, 0x1f6ff},
    Range{0x1f900, 0x1f9ff}, Range{0x1fa70, 0x1faff}, Range{0x20000, 0x3fffd},
};

template <std::size_t N>
bool is_in(const std::array<Range, N>& ranges, char32_t point) {
  auto after = std::upper_bound(ranges.begin(), ranges.end(), point,
                                [](char32_t p, const Range& range) { return p < range.first; });
  return after != ranges.begin() && point <= std::prev(after)->last;
}

template <class Bad>
std::string copy_with(std::string_view text, bool controls_are_bad, Bad append_bad) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const Utf8Char c = decode_utf8(text);
    if (!c.valid || (controls_are_bad && is_control(c.point))) {
      append_bad(out, c, static_cast<unsigned char>(text[0]));
    } else {
      out += text.substr(0, c.length);
    }
    text.remove_prefix(c.length);
  }
  return out;
}

}  // namespace

Utf8Char decode_utf8(std::string_view text) {
  const auto first = static_cast<unsigned char>(text[0]);
  if (first < 0x80) return {first, 1, true};
  std::size_t length = 0;
  char32_t point = 0, smallest = 0;
  if ((first & 0xe0) == 0xc0) {
    length = 2, point = first & 0x1fu, smallest = 0x80;
  } else if ((first & 0xf0) == 0xe0) {
    length = 3, point = first & 0x0fu, smallest = 0x800;
  } else if ((first & 0xf8) == 0xf0) {
    length = 4, point = first & 0x07u, smallest = 0x10000;
  }
  if (length == 0 || text.size() < length) return {};
  for (std::size_t i = 1; i < length; ++i) {
    const auto next = static_cast<unsigned char>(text[i]);
    if ((next & 0xc0) != 0x80) return {};
    point = (point << 6) | (next & 0x3fu);
  }
  if (point < smallest || point > 0x10ffff || (point >= 0xd800 && point <= 0xdfff)) return {};
  return {point, length, true};
}

void append_utf8(std::string& out, char32_t point) {
  auto add = [&out](char32_t byte) { out += static_cast<char>(static_cast<unsigned char>(byte)); };
  if (point < 0x80) return add(point);
  if (point < 0x800) {
    add(0xc0 | (point >> 6));
  } else {
    if (point < 0x10000) {
      add(0xe0 | (point >> 12));
    } else {
      add(0xf0 | (point >> 18));
      add(0x80 | ((point >> 12) & 0x3f));
    }
    add(0x80 | ((point >> 6) & 0x3f));
  }
  add(0x80 | (point & 0x3f));
}

std::string escape_controls(std::string_view text) {
  return copy_with(text, true, [](std::string& out, const Utf8Char& c, unsigned char byte) {
    if (byte == '\n') {
      out += "\\n";
    } else if (byte == '\t') {
      out += "\\t";
    } else if (byte == '\r') {
      out += "\\r";
    } else {
      fmt::format_to(std::back_inserter(out), "\\x{:02x}",
                     c.valid ? static_cast<unsigned>(c.point) : byte);
    }
  });
}

std::string to_valid_utf8(std::string_view text) {
  return copy_with(text, false, [](std::string& out, const Utf8Char&, unsigned char) {
    append_utf8(out, 0xfffd);
  });
}

std::size_t count_characters(std::string_view text) {
  std::size_t count = 0;
  for (; !text.empty(); ++count) text.remove_prefix(decode_utf8(text).length);
  return count;
}

std::size_t display_width(std::string_view text) {
  std::size_t width = 0;
  while (!text.empty()) {
    const Utf8Char c = decode_utf8(text);
    text.remove_prefix(c.length);
    if (c.valid && (is_control(c.point) || is_in(kZeroWidth, c.point))) continue;
    width += c.valid && is_in(kWide, c.point) ? 2 : 1;
  }
  return width;
}

}  // namespace plim
