#include "base/log.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <iterator>
#include <mutex>
#include <unistd.h>

#include "base/log_counts.hpp"
#include "base/text.hpp"
#include "base/utf8.hpp"

namespace plim::log {
namespace {

constexpr std::array<std::string_view, 5> kLevelNames{"debug", "info", "warn", "error", "off"};

// The only mutable global besides the metric registry, so that any code can log.
struct Sink {
  std::atomic<Level> level{Level::info};
  std::atomic<Format> format{Format::text};
  std::mutex mutex;  // guards the rest; lines longer than PIPE_BUF must not be mixed
  int fd = 2;
  bool capturing = false;
  std::vector<std::string> captured;
  std::vector<LineCount> counts;  // there are few parts
};

Sink& sink() {
  static auto* out = new Sink;  // never destroyed: a process may log until its end
  return *out;
}

void append_time(std::string& out) {
  using namespace std::chrono;
  const auto now = floor<milliseconds>(system_clock::now());
  const auto day = floor<days>(now);
  const year_month_day date(day);
  const hh_mm_ss time(now - day);
  fmt::format_to(std::back_inserter(out), "{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z",
                 static_cast<int>(date.year()), static_cast<unsigned>(date.month()),
                 static_cast<unsigned>(date.day()), time.hours().count(), time.minutes().count(),
                 time.seconds().count(), time.subseconds().count());
}

bool needs_quotes(std::string_view text) {
  if (text.empty()) return true;
  for (char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte <= ' ' || byte >= 0x7f || c == '"' || c == '=' || c == '\\') return true;
  }
  return false;
}

void append_value(std::string& out, std::string_view text) {
  if (!needs_quotes(text)) {
    out += text;
    return;
  }
  out += '"';
  std::string quoted;
  for (char c : text) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c;
  }
  out += escape_controls(quoted);
  out += '"';
}

std::string render_text(Level level, std::string_view part, std::string_view message,
                        Fields fields) {
  std::string out;
  append_time(out);
  fmt::format_to(std::back_inserter(out), " {} {} {}", kLevelNames[static_cast<std::size_t>(level)],
                 escape_controls(part), escape_controls(message));
  for (const Field& field : fields) {
    out += ' ';
    out += escape_controls(field.key);
    out += '=';
    append_value(out, field.text);
  }
  return out;
}

void append_json(std::string& out, std::string_view text) {
  out += '"';
  while (!text.empty()) {
    const Utf8Char c = decode_utf8(text);
    if (!c.valid) {
      append_utf8(out, 0xfffd);
    } else if (is_control(c.point)) {
      fmt::format_to(std::back_inserter(out), "\\u{:04x}", static_cast<unsigned>(c.point));
    } else {
      if (c.point == '"' || c.point == '\\') out += '\\';
      out += text.substr(0, c.length);
    }
    text.remove_prefix(c.length);
  }
  out += '"';
}

void append_member(std::string& out, std::string_view key, std::string_view text) {
  out += ',';
  append_json(out, key);
  out += ':';
  append_json(out, text);
}

std::string render_json(Level level, std::string_view part, std::string_view message,
                        Fields fields) {
  std::string out = R"({"time":")";
  append_time(out);
  out += '"';
  append_member(out, "level", kLevelNames[static_cast<std::size_t>(level)]);
  append_member(out, "part", part);
  append_member(out, "message", message);
  for (const Field& field : fields) append_member(out, field.key, field.text);
  out += '}';
  return out;
}

void put(std::string line) {
  const int saved = errno;  // callers may log between a system call and reading errno
  Sink& to = sink();
  const std::lock_guard lock(to.mutex);
  if (to.capturing) {
    to.captured.push_back(std::move(line));
  } else {
    line += '\n';
    while (::write(to.fd, line.data(), line.size()) < 0 && errno == EINTR) {
    }
  }
  errno = saved;
}

void count(Level level, std::string_view part) {
  if (level != Level::warn && level != Level::error) return;
  Sink& to = sink();
  const std::lock_guard lock(to.mutex);
  auto known = std::ranges::find(to.counts, part, &LineCount::part);
  if (known == to.counts.end())
    known = to.counts.insert(to.counts.end(), LineCount{.part = std::string(part)});
  ++(level == Level::warn ? known->warnings : known->errors);
}

}  // namespace

void configure(Options options) {
  Sink& to = sink();
  const std::lock_guard lock(to.mutex);
  to.level = options.level;
  to.format = options.format;
  to.fd = options.fd;
}

Result<Level> parse_level(std::string_view text) {
  for (std::size_t i = 0; i < kLevelNames.size(); ++i)
    if (text == kLevelNames[i]) return static_cast<Level>(i);
  return fail(
      Code::invalid,
      fmt::format("unknown log level {}: expected debug, info, warn, error or off", quote(text)));
}

Result<Format> parse_format(std::string_view text) {
  if (text == "text") return Format::text;
  if (text == "json") return Format::json;
  return fail(Code::invalid,
              fmt::format("unknown log format {}: expected text or json", quote(text)));
}

bool enabled(Level level) {
  return level >= sink().level.load(std::memory_order_relaxed);
}

void write(Level level, std::string_view part, std::string_view message, Fields fields) {
  if (!enabled(level) || level >= Level::off) return;
  count(level, part);
  const bool json = sink().format.load(std::memory_order_relaxed) == Format::json;
  put(json ? render_json(level, part, message, fields) : render_text(level, part, message, fields));
}

void Throttle::write(Level level, std::string_view part, std::string_view message, Fields fields) {
  if (!enabled(level)) return;
  const auto now = now_();
  if (last_ && now - *last_ < interval_) {
    ++held_back_;
    return;
  }
  last_ = now;
  if (held_back_ == 0) return log::write(level, part, message, fields);
  const std::size_t held_back = std::exchange(held_back_, 0);
  log::write(level, part, fmt::format("{} ({} more held back)", message, held_back), fields);
}

std::vector<LineCount> line_counts() {
  Sink& to = sink();
  const std::lock_guard lock(to.mutex);
  return to.counts;
}

Capture::Capture(Format format) {
  Sink& to = sink();
  const std::lock_guard lock(to.mutex);
  PLIM_ASSERT(!to.capturing);
  before_ = Options{.level = to.level, .format = to.format, .fd = to.fd};
  to.level = Level::debug;
  to.format = format;
  to.capturing = true;
}

Capture::~Capture() {
  configure(before_);
  Sink& to = sink();
  const std::lock_guard lock(to.mutex);
  to.capturing = false;
  to.captured.clear();
}

std::vector<std::string> Capture::take() {
  Sink& to = sink();
  const std::lock_guard lock(to.mutex);
  return std::exchange(to.captured, {});
}

}  // namespace plim::log
