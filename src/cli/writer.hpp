// Where output goes and how it may look there.
#pragma once

#include <string>
#include <string_view>

#include "base/terminal.hpp"
#include "cli/failures.hpp"

namespace plim::cli {

// Writes to a descriptor at once and completely, or into a string for tests.
class Writer {
 public:
  explicit Writer(int fd) : fd_(fd) {}

  explicit Writer(std::string& sink) : sink_(&sink) {}

  // A reader that went away (EPIPE) is a silent failure with exit code 0: `| head` is no mistake.
  Outcome<void> write(std::string_view text);

 private:
  int fd_ = -1;
  std::string* sink_ = nullptr;
};

struct Terminal {
  bool is_terminal = false;  // standard output
  bool color = false;
  int width = 0;  // 0: not a terminal, never truncate
};

Terminal terminal_of(int fd);
// `text` in this colour where colours are wanted.
std::string painted(std::string_view text, Color color, const Terminal& terminal);

// `text` after `label`, broken between words so that no line is wider; 0: never. Later lines are
// indented to stand below the first. Ends with a line end.
std::string wrap(std::string_view label, std::string_view text, int width);

// Before prepare_process(), which would open closed standard streams for reading and writing: these
// are opened in the wrong direction, so that a closed standard output is still an error and not a
// success without output.
void guard_standard_streams();

}  // namespace plim::cli
