// A program that a worker talks to through pipes. Blocking, for the worker's own thread.
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

// Killed with its process group when destroyed.
class ExecChild {
 public:
  static Result<ExecChild> spawn(const ExecCommand& command);
  ~ExecChild();
  ExecChild(ExecChild&& other) noexcept;

  struct Talk {
    std::string_view input;
    bool close_input = false;  // after it: the child sees the end of its input
    std::chrono::milliseconds timeout = std::chrono::seconds(60);
    // Gets what the child writes; true: that is all.
    std::function<Result<bool>(std::string_view)> output;
    std::function<bool()> is_cancelled = [] { return false; };
  };

  // Writes and reads at the same time, so that neither side waits for the other. The end of the
  // child's output ends it too; Code::timeout when it takes longer.
  Result<void> talk(const Clock& clock, const Talk& talk);

  struct End {
    int exit_code = 0;
    int signal = 0;               // that killed it
    std::string last_words = {};  // on its standard error

    std::string describe() const;  // "exit code 2: no such file"; "" if all went well
  };

  // After the end of its output: waits for it.
  End wait();

 private:
  ExecChild() = default;
  void read_errors();

  pid_t pid_ = -1;
  Fd in_, out_, err_;
  std::string last_words_;
};

}  // namespace plim::flow
