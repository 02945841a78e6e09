// Paths into JSON as RFC 6901 writes them.
#pragma once

#include <string>
#include <string_view>

namespace plim {

// One step further: "/a" and "b/c" become "/a/b~1c".
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
