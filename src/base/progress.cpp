#include "base/progress.hpp"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <unistd.h>

#include <fmt/format.h>

#include "base/terminal.hpp"
#include "base/utf8.hpp"

namespace plim {
namespace {

using namespace std::chrono_literals;

constexpr auto kPatience = 300ms;
constexpr auto kInterval = 100ms;
constexpr std::size_t kNarrowestBar = 10, kWidestBar = 40;

std::string short_time(std::uint64_t seconds) {
  if (seconds < 60) return fmt::format("{}s", seconds);
  if (seconds < 3600) return fmt::format("{}m{:02}s", seconds / 60, seconds % 60);
  return fmt::format("{}h{:02}m", seconds / 3600, seconds / 60 % 60);
}

std::string cut_to_width(std::string text, std::size_t width) {
  while (display_width(text) > width) text.pop_back();
  return text;
}

}  // namespace

Progress::Progress(Options options, const Clock& clock)
    : options_(std::move(options)),
      clock_(&clock),
      silent_(!is_terminal(options_.fd)),
      start_(clock.steady()) {
  options_.label = escape_controls(options_.label);
}

Progress::~Progress() {
  finish();
}

void Progress::update(std::uint64_t done) {
  if (silent_) return;
  const SteadyTime now = clock_->steady();
  if (now - start_ < kPatience || (drawn_ && now - *drawn_ < kInterval)) return;
  drawn_ = now;
  // One column less than the terminal has, since some terminals wrap.
  const int width = terminal_width(options_.fd).value_or(80);
  put("\r" + line(done, static_cast<std::size_t>(std::max(width - 1, 1))) + "\x1b[K");
}

void Progress::finish() {
  if (drawn_) put("\r\x1b[K");
  drawn_.reset();
  silent_ = true;
}

std::string Progress::line(std::uint64_t done, std::size_t width) const {
  if (options_.total == 0) return cut_to_width(fmt::format("{} {}", options_.label, done), width);
  done = std::min(done, options_.total);
  const double share = static_cast<double>(done) / static_cast<double>(options_.total);
  std::string after = fmt::format(" {:3.0f}%", std::floor(share * 100));
  if (done > 0) {
    const std::chrono::duration<double> elapsed = clock_->steady() - start_;
    const double left = elapsed.count() * (1 - share) / share;
    after += " ETA " + short_time(static_cast<std::uint64_t>(std::min(left, 3.6e8)));
  }
  const std::size_t taken = display_width(options_.label) + after.size() + 3;  // " [" and "]"
  if (taken + kNarrowestBar > width) return cut_to_width(options_.label + after, width);
  const std::size_t bar = std::min(width - taken, kWidestBar);
  const auto full = static_cast<std::size_t>(share * static_cast<double>(bar));
  return fmt::format("{} [{}{}]{}", options_.label, std::string(full, '='),
                     std::string(bar - full, ' '), after);
}

void Progress::put(std::string_view text) const {
  while (::write(options_.fd, text.data(), text.size()) < 0 && errno == EINTR) {
  }
}

}  // namespace plim
