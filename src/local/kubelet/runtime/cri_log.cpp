#include "local/kubelet/runtime/cri_log.hpp"

#include <cerrno>
#include <cstdio>
#include <ctime>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>

namespace plim::local::kubelet {

std::string format_log_line(WallTime time, LogStream stream, bool complete, std::string_view text) {
  const auto seconds = std::chrono::floor<std::chrono::seconds>(time);
  const std::time_t whole = seconds.time_since_epoch().count();
  std::tm parts{};
  ::gmtime_r(&whole, &parts);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:09}Z {} {} {}\n", parts.tm_year + 1900,
                     parts.tm_mon + 1, parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec,
                     (time - seconds).count(), stream == LogStream::out ? "stdout" : "stderr",
                     complete ? 'F' : 'P', text);
}

CriLog::CriLog(std::string path, std::size_t limit) : path_(std::move(path)), limit_(limit) {
  open();
}

void CriLog::open() {
  file_.reset(::open(path_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
  struct stat info{};
  size_ = file_ && ::fstat(file_.get(), &info) == 0 ? static_cast<std::size_t>(info.st_size) : 0;
}

void CriLog::rotate() {
  for (int i = kKept - 2; i >= 0; --i) {
    std::string from = i == 0 ? path_ : fmt::format("{}.{}", path_, i);
    std::rename(from.c_str(), fmt::format("{}.{}", path_, i + 1).c_str());
  }
  open();
}

void CriLog::append(LogStream stream, std::string_view bytes, WallTime now) {
  std::string& pending = pending_[stream == LogStream::out ? 0 : 1];
  while (!bytes.empty()) {
    const std::size_t end = bytes.find('\n');
    const std::size_t room = kMaxLine - pending.size();
    const std::size_t take = std::min(end, std::min(room, bytes.size()));
    pending.append(bytes.substr(0, take));
    bytes.remove_prefix(take);
    if (!bytes.empty() && bytes.front() == '\n') {
      bytes.remove_prefix(1);
      write_line(stream, true, pending, now);
      pending.clear();
    } else if (pending.size() == kMaxLine && !bytes.empty()) {
      write_line(stream, false, pending, now);
      pending.clear();
    }
  }
}

void CriLog::finish(WallTime now) {
  for (LogStream stream : {LogStream::out, LogStream::err}) {
    std::string text = std::exchange(pending_[stream == LogStream::out ? 0 : 1], {});
    if (!text.empty()) write_line(stream, true, text, now);
  }
}

void CriLog::write_line(LogStream stream, bool complete, std::string_view text, WallTime now) {
  const std::string line = format_log_line(now, stream, complete, text);
  if (size_ > 0 && size_ + line.size() > limit_) rotate();
  std::string_view rest = line;
  while (!rest.empty()) {
    const ssize_t n = ::write(file_.get(), rest.data(), rest.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return;
    size_ += static_cast<std::size_t>(n);
    rest.remove_prefix(static_cast<std::size_t>(n));
  }
}

}  // namespace plim::local::kubelet
