// The arguments and the environment of a program, in the form that exec and posix_spawn take.
#pragma once

#include <string>
#include <vector>

namespace plim {

// Points into `texts`, which the system does not change. Ends with a null pointer.
inline std::vector<char*> argv_of(const std::vector<std::string>& texts) {
  std::vector<char*> out;
  out.reserve(texts.size() + 1);
  for (const std::string& text : texts) out.push_back(const_cast<char*>(text.c_str()));
  out.push_back(nullptr);
  return out;
}

}  // namespace plim
