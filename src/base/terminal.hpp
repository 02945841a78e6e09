// The capabilities of an output.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace plim {

bool is_terminal(int fd);
// Columns; none if it is not a terminal, where nothing is truncated.
std::optional<int> terminal_width(int fd);

enum class ColorMode { automatic, always, never };
// In automatic mode the first rule that applies: no if NO_COLOR is not empty; yes if CLICOLOR_FORCE
// is neither empty nor 0; no if TERM is dumb or empty; otherwise whether `fd` is a terminal.
bool use_color(int fd, ColorMode mode = ColorMode::automatic);

enum class Color { none, bold, dim, red, green, yellow, blue, magenta, cyan };
// `text` between the escape sequences of `color`; unchanged for Color::none.
std::string paint(std::string_view text, Color color);

}  // namespace plim
