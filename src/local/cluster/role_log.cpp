#include "local/cluster/role_log.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <fcntl.h>
#include <memory>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

#include "base/fd.hpp"
#include "base/rfc3339.hpp"
#include "base/text.hpp"

namespace plim::local::cluster {
namespace {

constexpr Nanos kNextLook = std::chrono::milliseconds(100);
constexpr std::size_t kPieceBytes = 64 << 10;

using Piece = std::array<char, kPieceBytes>;

std::string_view read_at(int file, std::uint64_t offset, std::uint64_t most, Piece& piece) {
  const auto size = static_cast<std::size_t>(std::min<std::uint64_t>(most, piece.size()));
  const ssize_t n = ::pread(file, piece.data(), size, static_cast<off_t>(offset));
  return n > 0 ? std::string_view(piece.data(), static_cast<std::size_t>(n)) : std::string_view();
}

std::uint64_t size_of(int file) {
  struct stat info{};
  return ::fstat(file, &info) == 0 ? static_cast<std::uint64_t>(info.st_size) : 0;
}

// Where the last `count` lines before `end` begin.
std::uint64_t begin_of_tail(int file, std::uint64_t from, std::uint64_t end, std::int64_t count) {
  if (count == 0) return end;
  Piece piece;
  for (std::uint64_t at = end; at > from;) {
    const std::uint64_t size = std::min<std::uint64_t>(piece.size(), at - from);
    at -= size;
    const std::string_view bytes = read_at(file, at, size, piece);
    for (std::size_t i = bytes.size(); i-- > 0;)
      if (bytes[i] == '\n' && at + i + 1 != end && --count == 0) return at + i + 1;
  }
  return from;
}

// The start of a line such that at most kMostLogShown bytes follow.
std::uint64_t begin_of_shown(int file, std::uint64_t from, std::uint64_t end) {
  if (end - from <= kMostLogShown) return from;
  Piece piece;
  std::uint64_t at = end - kMostLogShown;
  while (at < end) {
    const std::string_view bytes = read_at(file, at, end - at, piece);
    if (bytes.empty()) break;
    if (const std::size_t line = bytes.find('\n'); line != bytes.npos) return at + line + 1;
    at += bytes.size();
  }
  return at;
}

// Applies the options to one line after the other.
class ShownLines {
 public:
  ShownLines(Clock& clock, kubelet::LogOptions options, WallTime began)
      : clock_(clock), options_(std::move(options)), time_(began) {}

  std::string take(std::string_view line) {
    if (options_.since || options_.timestamps)
      if (auto said = time_of_line(line, clock_.wall())) time_ = *said;
    if (full() || (options_.since && time_ < *options_.since)) return {};
    std::string out = options_.timestamps ? format_rfc3339_nano(time_) + " " : std::string();
    out += line;
    out += '\n';
    if (options_.limit_bytes &&
        bytes_ + static_cast<std::int64_t>(out.size()) > *options_.limit_bytes)
      out.resize(static_cast<std::size_t>(*options_.limit_bytes - bytes_));
    bytes_ += static_cast<std::int64_t>(out.size());
    return out;
  }

  // Takes all complete lines; the rest stays in `text`.
  std::string take_all(std::string& text) {
    std::string out;
    std::size_t from = 0;
    for (std::size_t end; (end = text.find('\n', from)) != text.npos; from = end + 1)
      out += take(std::string_view(text).substr(from, end - from));
    text.erase(0, from);
    return out;
  }

  bool full() const { return options_.limit_bytes && bytes_ >= *options_.limit_bytes; }

 private:
  Clock& clock_;
  kubelet::LogOptions options_;
  WallTime time_;
  std::int64_t bytes_ = 0;
};

// "I1116 14:02:24.936850": the letter, month and day, the time of the day in UTC.
std::optional<WallTime> klog_time(std::string_view line, WallTime now) {
  using namespace std::chrono;
  constexpr std::string_view kForm = "I1116 14:02:24.936850";
  if (line.size() < kForm.size() || std::string_view("IWEF").find(line[0]) == line.npos)
    return std::nullopt;
  for (std::size_t i = 1; i < kForm.size(); ++i)
    if (is_digit(kForm[i]) ? !is_digit(line[i]) : line[i] != kForm[i]) return std::nullopt;
  const auto number = [&](std::size_t from, std::size_t size) {
    return parse_int<int>(line.substr(from, size)).value_or(0);
  };
  const auto month_of = month(static_cast<unsigned>(number(1, 2)));
  const auto day_of = day(static_cast<unsigned>(number(3, 2)));
  const auto time = hours(number(6, 2)) + minutes(number(9, 2)) + seconds(number(12, 2)) +
                    microseconds(number(15, 6));
  const year_month_day today(floor<days>(now));
  // Early in January the line may be of last year.
  for (const year which : {today.year(), today.year() - years(1)}) {
    const year_month_day date(which, month_of, day_of);
    if (!date.ok()) continue;
    const WallTime out(sys_days(date) + time);
    if (out <= now + days(1)) return out;
  }
  return std::nullopt;
}

}  // namespace

std::optional<WallTime> time_of_line(std::string_view line, WallTime now) {
  if (line.size() > 4 && line[4] == '-') {
    auto time = parse_rfc3339(cut(line, ' ').first);
    if (time) return *time;
  }
  return klog_time(line, now);
}

Task<Result<void>> copy_role_log(Clock& clock, RoleLog log, kubelet::LogOptions options,
                                 std::function<bool()> goes_on,
                                 std::function<bool(std::string)> write) {
  const Fd file(::open(log.path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) co_return fail_errno(errno, fmt::format("cannot read {}", log.path));
  const std::uint64_t size = size_of(file.get());
  const std::uint64_t end = std::min(log.until.value_or(size), size);
  // A user may have truncated the file.
  std::uint64_t at = begin_of_shown(file.get(), std::min(log.from, end), end);
  if (options.tail_lines) at = begin_of_tail(file.get(), at, end, *options.tail_lines);
  ShownLines lines(clock, options, log.began);
  auto piece = std::make_unique<Piece>();
  std::string rest;
  for (bool more = true; more;) {
    // Ask before reading, so that the last lines are read too.
    more = options.follow && !log.until && goes_on();
    for (;;) {
      const std::uint64_t most = log.until ? end - at : piece->size();
      const std::string_view bytes = read_at(file.get(), at, most, *piece);
      if (bytes.empty()) break;
      at += bytes.size();
      rest += bytes;
      std::string shown = lines.take_all(rest);
      if (!shown.empty() && !write(std::move(shown))) co_return Result<void>();
      if (lines.full()) co_return Result<void>();
      co_await yield_to_loop();
    }
    if (more) co_await clock.sleep(kNextLook);
  }
  if (rest.empty()) co_return Result<void>();
  std::string last = lines.take(rest);
  if (!last.empty()) write(std::move(last));
  co_return Result<void>();
}

}  // namespace plim::local::cluster
