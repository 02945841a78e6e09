// UTF-8 as foreign bytes need it: decoded strictly, made harmless, measured.
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

// The first character of `text`, which is not empty. Overlong forms, surrogates and values past
// U+10FFFF are not valid.
Utf8Char decode_utf8(std::string_view text);
void append_utf8(std::string& out, char32_t point);

// C0, DEL and C1: what moves a cursor, starts an escape sequence or ends a line.
constexpr bool is_control(char32_t point) {
  return point < 0x20 || (point >= 0x7f && point < 0xa0);
}

// For people: control characters and bytes that are not UTF-8 as \n, \t, \r or \x1b.
std::string escape_controls(std::string_view text);
// For formats that must be UTF-8: such bytes become U+FFFD.
std::string to_valid_utf8(std::string_view text);
// How many characters; a byte that is not UTF-8 counts as one.
std::size_t count_characters(std::string_view text);
// Columns on a terminal: 0 for combining marks, 2 for East Asian wide characters and emoji.
std::size_t display_width(std::string_view text);

}  // namespace plim
