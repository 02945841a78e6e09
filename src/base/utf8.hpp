// UTF-8 for untrusted bytes: strict decoding, escaping, width.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace plim {

struct Utf8Char {
  char32_t point = 0;
  std::size_t length = 1;  // bytes used; 1 for a byte that is not UTF-8
  bool valid = false;
};

// The first character of `text`, which must not be empty. Overlong forms, surrogates and values
// above U+10FFFF are invalid.
Utf8Char decode_utf8(std::string_view text);
void append_utf8(std::string& out, char32_t point);

// C0, DEL and C1: characters that move a cursor, start an escape sequence or end a line.
constexpr bool is_control(char32_t point) {
  return point < 0x20 || (point >= 0x7f && point < 0xa0);
}

// For output to users: control characters and invalid bytes become \n, \t, \r or \x1b.
std::string escape_controls(std::string_view text);
// For formats that must be UTF-8: invalid bytes become U+FFFD.
std::string to_valid_utf8(std::string_view text);
// How many characters; a byte that is not UTF-8 counts as one.
std::size_t count_characters(std::string_view text);
// Columns on a terminal: 0 for combining marks, 2 for East Asian wide characters and emoji.
std::size_t display_width(std::string_view text);

}  // namespace plim
