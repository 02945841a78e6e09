#include "base/terminal.hpp"

#include <array>
#include <cstdlib>
#include <sys/ioctl.h>
#include <unistd.h>

#include <fmt/format.h>

namespace plim {
namespace {

std::string_view environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

}  // namespace

bool is_terminal(int fd) {
  return ::isatty(fd) == 1;
}

std::optional<int> terminal_width(int fd) {
  winsize size{};
  if (!is_terminal(fd)) return std::nullopt;
  if (::ioctl(fd, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return 80;
  return size.ws_col;
}

bool use_color(int fd, ColorMode mode) {
  if (mode != ColorMode::automatic) return mode == ColorMode::always;
  if (!environment("NO_COLOR").empty()) return false;
  const auto force = environment("CLICOLOR_FORCE");
  if (!force.empty() && force != "0") return true;
  const auto kind = environment("TERM");
  return !kind.empty() && kind != "dumb" && is_terminal(fd);
}

std::string paint(std::string_view text, Color color) {
  constexpr std::array<int, 9> kCodes{0, 1, 2, 31, 32, 33, 34, 35, 36};
  if (color == Color::none) return std::string(text);
  return fmt::format("\x1b[{}m{}\x1b[0m", kCodes[static_cast<std::size_t>(color)], text);
}

}  // namespace plim
