// JSON pointers (RFC 6901).
#pragma once

#include <string>
#include <string_view>

namespace plim {

// Appends a step: "/a" and "b/c" become "/a/b~1c".
inline void append_step(std::string& pointer, std::string_view key) {
  pointer += '/';
  for (char c : key) {
    if (c == '~')
      pointer += "~0";
    else if (c == '/')
      pointer += "~1";
    else
      pointer += c;
  }
}

}  // namespace plim
