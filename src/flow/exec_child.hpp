// A program that a worker talks to through pipes. The calls block, so the worker uses its own
// thread.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "base/fd.hpp"
#include "base/result.hpp"

namespace plim::flow {

struct ExecCommand {
  std::vector<std::string> argv;  // argv[0] is looked up in PATH
  std::vector<std::pair<std::string, std::string>> env;
  std::string cwd;
};

// The destructor kills the program and its process group.
class ExecChild {
 public:
  static Result<ExecChild> spawn(const ExecCommand& command);
  ~ExecChild();
  ExecChild(ExecChild&& other) noexcept;

  struct Talk {
    std::string_view input;
    bool close_input = false;  // then close the child's input
    std::chrono::milliseconds timeout = std::chrono::seconds(60);
    // Receives the child's output. Returns true at the end of the answer.
    std::function<Result<bool>(std::string_view)> output;
    std::function<bool()> is_cancelled = [] { return false; };
  };

  // Writes and reads at the same time, so that neither side blocks the other. Returns when the
  // answer or the child's output ends. Fails with Code::timeout if it takes longer.
  Result<void> talk(const Clock& clock, const Talk& talk);

  struct End {
    int exit_code = 0;
    int signal = 0;               // the signal that killed it
    std::string last_words = {};  // end of its standard error

    std::string describe() const;  // "exit code 2: no such file"; "" if it succeeded
  };

  // Waits for the end of the process. Call it after the end of its output.
  End wait();

 private:
  ExecChild() = default;
  void read_errors();

  pid_t pid_ = -1;
  Fd in_, out_, err_;
  std::string last_words_;
};

}  // namespace plim::flow
