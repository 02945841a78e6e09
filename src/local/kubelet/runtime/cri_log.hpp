// A container's log file in the format of the container runtime interface.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/clock.hpp"
#include "base/fd.hpp"

namespace plim::local::kubelet {

enum class LogStream { out, err };

// "2024-01-02T03:04:05.000000006Z stdout F text\n"; an incomplete line has P instead of F.
std::string format_log_line(WallTime time, LogStream stream, bool complete, std::string_view text);

// Writes the lines of a container, cut at kMaxLine. The file is rotated at `limit` bytes: 0.log
// becomes 0.log.1 and so on, kKept files in all. Output that cannot be written is lost: a full disk
// must not stop a container.
class CriLog {
 public:
  static constexpr std::size_t kMaxLine = 16 << 10;
  static constexpr std::size_t kDefaultLimit = 10 << 20;
  static constexpr int kKept = 5;

  explicit CriLog(std::string path, std::size_t limit = kDefaultLimit);

  void append(LogStream stream, std::string_view bytes, WallTime now);
  // Writes the rest that has no line end yet.
  void finish(WallTime now);

 private:
  void write_line(LogStream stream, bool complete, std::string_view text, WallTime now);
  void open();
  void rotate();

  std::string path_;
  std::size_t limit_;
  std::size_t size_ = 0;
  Fd file_;
  std::string pending_[2];
};

}  // namespace plim::local::kubelet
