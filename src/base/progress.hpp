// A progress line for users.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/clock.hpp"

namespace plim {

// On a terminal, redraws the line in place, starting after 300 ms, at most ten times a second;
// otherwise writes nothing. finish() and the destructor erase the line and leave the cursor at its
// start. The cursor is never hidden, so a kill leaves the terminal intact.
class Progress {
 public:
  struct Options {
    std::string label;
    std::uint64_t total = 0;  // 0: unknown, only the count is shown
    int fd = 2;
  };

  explicit Progress(Options options, const Clock& clock = system_clock());
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void update(std::uint64_t done);
  void finish();

 private:
  std::string line(std::uint64_t done, std::size_t width) const;
  void put(std::string_view text) const;

  Options options_;
  const Clock* clock_;
  bool silent_;
  SteadyTime start_;
  std::optional<SteadyTime> drawn_;
};

}  // namespace plim
