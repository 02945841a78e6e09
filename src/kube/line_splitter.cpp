#include "kube/line_splitter.hpp"

#include <fmt/format.h>

namespace plim::kube {

void LineSplitter::add(std::string_view piece) {
  buffer_.erase(0, start_);
  scanned_ -= start_;
  start_ = 0;
  buffer_ += piece;
}

Result<std::optional<std::string>> LineSplitter::next() {
  for (;;) {
    const std::size_t end = buffer_.find('\n', scanned_);
    const std::size_t length = std::min(end, buffer_.size()) - start_;
    if (length > max_line_)
      return fail(Code::too_large, fmt::format("a line of the stream exceeds {} bytes", max_line_));
    if (end == std::string::npos) {
      scanned_ = buffer_.size();
      return std::nullopt;
    }
    std::string_view line(buffer_.data() + start_, length);
    start_ = scanned_ = end + 1;
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (!line.empty()) return std::string(line);
  }
}

}  // namespace plim::kube
