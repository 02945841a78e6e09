#include "local/kubelet/runtime/log_reader.hpp"

#include <algorithm>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/fd.hpp"
#include "base/rfc3339.hpp"
#include "base/text.hpp"
#include "kube/object.hpp"
#include "local/kubelet/runtime/cri_log.hpp"

namespace plim::local::kubelet {

namespace {

constexpr std::size_t kPiece = 64 << 10;

// Reads a log line by line, across rotated files.
class LogTail {
 public:
  explicit LogTail(std::string path) : path_(std::move(path)) {
    for (int i = CriLog::kKept - 1; i >= 1; --i)
      if (Fd old = open_file(fmt::format("{}.{}", path_, i))) older_.push_back(std::move(old));
    current_ = open_file(path_);
  }

  // The next available lines, without line ends. Empty: there are no more for now.
  std::vector<std::string> next() {
    for (;;) {
      Fd* file = older_.empty() ? &current_ : &older_.front();
      char buffer[kPiece];
      const ssize_t n = *file ? ::read(file->get(), buffer, sizeof buffer) : 0;
      if (n > 0) {
        rest_.append(buffer, static_cast<std::size_t>(n));
        if (auto lines = take_lines(); !lines.empty()) return lines;
      } else if (!older_.empty()) {
        older_.erase(older_.begin());
      } else if (!reopen()) {
        return {};
      }
    }
  }

 private:
  static Fd open_file(const std::string& path) {
    return Fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  }

  // If the file was rotated while we read it, continue with the new one.
  bool reopen() {
    struct stat ours{}, theirs{};
    if (::stat(path_.c_str(), &theirs) != 0) return false;
    if (current_ && ::fstat(current_.get(), &ours) == 0 && ours.st_ino == theirs.st_ino)
      return false;
    current_ = open_file(path_);
    return static_cast<bool>(current_);
  }

  std::vector<std::string> take_lines() {
    std::vector<std::string> out;
    std::size_t from = 0;
    for (std::size_t end; (end = rest_.find('\n', from)) != std::string::npos; from = end + 1)
      out.push_back(rest_.substr(from, end - from));
    rest_.erase(0, from);
    return out;
  }

  std::string path_;
  std::vector<Fd> older_;
  Fd current_;
  std::string rest_;
};

// Keeps the last `count` lines. Partial lines belong to the complete line after them.
void keep_last(std::vector<std::string>& lines, std::int64_t count) {
  std::size_t from = lines.size();
  for (std::int64_t whole = 0; from > 0; --from) {
    const auto line = parse_log_line(lines[from - 1]);
    if (line && line->complete && ++whole > count) break;
  }
  lines.erase(lines.begin(), lines.begin() + static_cast<std::ptrdiff_t>(from));
}

}  // namespace

std::optional<LogLine> parse_log_line(std::string_view line) {
  const auto [stamp, after_stamp] = cut(line, ' ');
  const auto [stream, after_stream] = cut(after_stamp, ' ');
  const auto [tag, text] = cut(after_stream, ' ');
  const auto time = parse_rfc3339(stamp);
  if (!time || (stream != "stdout" && stream != "stderr") || tag.empty()) return std::nullopt;
  return LogLine{*time, tag.front() == 'F', text};
}

Result<LogPlace> find_log(const json::value& pod, const PodFacts& facts, const PodFiles& files,
                          const std::string& container, bool previous) {
  const ContainerFacts* found = nullptr;
  for (const auto* list : {&facts.init, &facts.containers})
    for (const ContainerFacts& candidate : *list)
      if (candidate.name == container) found = &candidate;
  const std::string_view name = kube::name_of(pod);
  if (found == nullptr)
    return fail(Code::not_found,
                fmt::format("container \"{}\" in pod \"{}\" is not available", container, name));
  if (previous) {
    const bool waits = found->run && !found->running() && !found->waiting_reason.empty();
    const int restart = found->run ? found->run->restart - (waits ? 0 : 1) : -1;
    if (restart < 0)
      return fail(Code::bad_request,
                  fmt::format("previous terminated container \"{}\" in pod \"{}\" not found",
                              container, name));
    return LogPlace{files.log(container, restart), ""};
  }
  if (!found->run)
    return fail(
        Code::bad_request,
        fmt::format("container \"{}\" in pod \"{}\" is waiting to start: {}", container, name,
                    found->waiting_reason.empty()
                        ? (facts.init.empty() ? "ContainerCreating" : "PodInitializing")
                        : found->waiting_reason));
  return LogPlace{files.log(container, found->run->restart),
                  found->running() ? found->run->id : ""};
}

std::string LogFilter::take(std::string_view line) {
  const auto parsed = parse_log_line(line);
  if (!parsed || (options_.since && parsed->time < *options_.since)) return {};
  std::string out;
  if (options_.timestamps && !in_line_) out = std::string(cut(line, ' ').first) + " ";
  out += parsed->text;
  if (parsed->complete) out += '\n';
  in_line_ = !parsed->complete;
  if (options_.limit_bytes) {
    const std::int64_t room = std::max<std::int64_t>(0, *options_.limit_bytes - bytes_);
    if (static_cast<std::int64_t>(out.size()) > room) out.resize(static_cast<std::size_t>(room));
  }
  bytes_ += static_cast<std::int64_t>(out.size());
  return out;
}

bool LogFilter::full() const {
  return options_.limit_bytes && bytes_ >= *options_.limit_bytes;
}

Task<Result<void>> copy_log(LogPlace place, LogOptions options, ShimClient* shim,
                            std::function<bool(std::string)> write) {
  std::unique_ptr<ShimTicks> ticks;
  if (options.follow && !place.running_id.empty()) {
    auto followed = co_await shim->follow(place.running_id);
    if (followed) ticks = std::move(*followed);  // otherwise the container has ended
  }
  LogTail tail(place.path);
  LogFilter filter(options);
  const auto show = [&](const std::vector<std::string>& lines) {
    std::string out;
    for (const std::string& line : lines) out += filter.take(line);
    return (out.empty() || write(std::move(out))) && !filter.full();
  };
  if (options.tail_lines) {
    std::vector<std::string> all;
    for (auto lines = tail.next(); !lines.empty(); lines = tail.next()) {
      all.insert(all.end(), std::make_move_iterator(lines.begin()),
                 std::make_move_iterator(lines.end()));
      keep_last(all, *options.tail_lines);
      co_await yield_to_loop();
    }
    if (!show(all)) co_return Result<void>();
  }
  for (bool more = true;;) {
    for (auto lines = tail.next(); !lines.empty(); lines = tail.next()) {
      if (!show(lines)) co_return Result<void>();
      co_await yield_to_loop();
    }
    if (!ticks || !more) co_return Result<void>();
    auto ticked = co_await ticks->next();
    more = ticked && *ticked;  // after the end read once more, for the last lines
  }
}

}  // namespace plim::local::kubelet
