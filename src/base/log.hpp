// One line per event on stderr: `time level part message key=value`, or the same as JSON.
// Thread-safe. Each problem is logged once, where it is handled.
#pragma once

#include <chrono>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "base/result.hpp"

namespace plim::log {

enum class Level { debug, info, warn, error, off };
enum class Format { text, json };

// A key and its rendered value: strings as they are, everything else formatted by fmt.
struct Field {
  template <class T>
  Field(std::string_view name, const T& value) : key(name), text(fmt::format("{}", value)) {}

  Field(std::string_view name, const Error& error) : key(name), text(error.message) {}

  std::string_view key;
  std::string text;
};

using Fields = std::initializer_list<Field>;

struct Options {
  Level level = Level::info;
  Format format = Format::text;
  int fd = 2;
};

void configure(Options options);
Result<Level> parse_level(std::string_view text);
Result<Format> parse_format(std::string_view text);

bool enabled(Level level);
// Never fails and never throws: a line that cannot be written is lost.
void write(Level level, std::string_view part, std::string_view message, Fields fields = {});

inline void debug(std::string_view part, std::string_view message, Fields fields = {}) {
  if (enabled(Level::debug)) write(Level::debug, part, message, fields);
}

inline void info(std::string_view part, std::string_view message, Fields fields = {}) {
  write(Level::info, part, message, fields);
}

inline void warn(std::string_view part, std::string_view message, Fields fields = {}) {
  write(Level::warn, part, message, fields);
}

inline void error(std::string_view part, std::string_view message, Fields fields = {}) {
  write(Level::error, part, message, fields);
}

// Logs the same problem at most once per interval; the next line has the number of suppressed
// lines. Use one object per place in the code; not thread-safe, it belongs to one loop.
class Throttle {
 public:
  using Now = std::chrono::steady_clock::time_point (*)();

  explicit Throttle(std::chrono::seconds interval = std::chrono::seconds(60),
                    Now now = std::chrono::steady_clock::now)
      : interval_(interval), now_(now) {}

  void write(Level level, std::string_view part, std::string_view message, Fields fields = {});

 private:
  std::chrono::seconds interval_;
  Now now_;
  std::optional<std::chrono::steady_clock::time_point> last_;
  std::size_t held_back_ = 0;
};

// For tests: while it exists, it receives the lines of the whole process, at all levels. Only one
// at a time.
class Capture {
 public:
  explicit Capture(Format format = Format::text);
  ~Capture();
  Capture(const Capture&) = delete;
  Capture& operator=(const Capture&) = delete;

  // The lines since the last call, without newlines.
  std::vector<std::string> take();

 private:
  Options before_;
};

}  // namespace plim::log
