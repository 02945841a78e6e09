// What an output can show.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace plim {

bool is_terminal(int fd);
// Columns; none when it is no terminal, where nothing is cut to fit.
std::optional<int> terminal_width(int fd);

enum class ColorMode { automatic, always, never };
// In automatic mode, first that applies: NO_COLOR not empty, no; CLICOLOR_FORCE neither empty nor
// 0, yes; TERM dumb or empty, no; else whether `fd` is a terminal.
bool use_color(int fd, ColorMode mode = ColorMode::automatic);

enum class Color { none, bold, dim, red, green, yellow, blue, magenta, cyan };
// `text` between the escape sequences of `color`; as it is for Color::none.
std::string paint(std::string_view text, Color color);

}  // namespace plim
