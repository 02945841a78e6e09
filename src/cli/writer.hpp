// Output streams of a command, and the properties of its terminal.
#pragma once

#include <string>
#include <string_view>

#include "base/terminal.hpp"
#include "cli/failures.hpp"

namespace plim::cli {

// Writes to a descriptor without buffering, or into a string for tests.
class Writer {
 public:
  explicit Writer(int fd) : fd_(fd) {}

  explicit Writer(std::string& sink) : sink_(&sink) {}

  // If the reader has closed the pipe (EPIPE), fails silently with exit code 0: `| head` is not an
  // error.
  Outcome<void> write(std::string_view text);

 private:
  int fd_ = -1;
  std::string* sink_ = nullptr;
};

struct Terminal {
  bool is_terminal = false;  // whether standard output is a terminal
  bool color = false;
  int width = 0;  // 0: not a terminal, never truncate
};

Terminal terminal_of(int fd);
// Returns `text` in this color if the terminal shows colors.
std::string painted(std::string_view text, Color color, const Terminal& terminal);

// `text` after `label`, wrapped between words to `width` columns (0: not wrapped). Later lines are
// indented to the column of the first. The result ends with a newline.
std::string wrap(std::string_view label, std::string_view text, int width);

// Call before prepare_process(), which opens closed standard streams for reading and writing. This
// function opens them in the wrong direction, so that writing to a closed standard output is still
// an error.
void guard_standard_streams();

}  // namespace plim::cli
