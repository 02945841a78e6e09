// Cuts a stream of bytes into lines.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace plim::kube {

// Takes pieces as they arrive and returns whole lines without "\n" or "\r\n". Empty lines are
// skipped. An incomplete line at the end of the stream is dropped.
class LineSplitter {
 public:
  explicit LineSplitter(std::size_t max_line) : max_line_(max_line) {}

  void add(std::string_view piece);
  // nullopt: no whole line yet. After a line over the limit every call returns Code::too_large.
  Result<std::optional<std::string>> next();

 private:
  std::size_t max_line_;
  std::string buffer_;
  std::size_t start_ = 0;    // of the current line
  std::size_t scanned_ = 0;  // no line end between start_ and here
};

}  // namespace plim::kube
