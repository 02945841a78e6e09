// Cuts a stream of bytes into lines.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace plim::kube {

// Pieces go in as they arrive, whole lines come out without their "\n" or "\r\n"; empty lines are
// skipped. What is left without a line end at the end of the stream was cut off and is dropped.
class LineSplitter {
 public:
  explicit LineSplitter(std::size_t max_line) : max_line_(max_line) {}

  void add(std::string_view piece);
  // nullopt: no whole line yet. A line beyond the limit is Code::too_large, now and ever after.
  Result<std::optional<std::string>> next();

 private:
  std::size_t max_line_;
  std::string buffer_;
  std::size_t start_ = 0;    // of the line under way
  std::size_t scanned_ = 0;  // no line end between start_ and here
};

}  // namespace plim::kube
