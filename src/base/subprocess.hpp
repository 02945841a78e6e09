// Runs other programs with posix_spawn and awaits them on the loop, without SIGCHLD.
//
// A child gets stdin, stdout and stderr and no other descriptor, default signal handling and, by
// default, its own process group, which receives the signals. No child outlives its handle: the
// destructor kills the group and reaps the child.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <sys/types.h>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "base/result.hpp"
#include "base/task.hpp"

namespace plim {

// Where a child's stdout or stderr goes.
class Output {
 public:
  // Keeps the first `limit` bytes; reads and drops the rest, so that the child never blocks.
  static Output captured(std::size_t limit = std::size_t{1} << 20) {
    return {Kind::capture, limit, -1};
  }

  static Output inherited() { return {Kind::inherit, 0, -1}; }

  // The caller keeps `fd` and may close it after the spawn.
  static Output to(int fd) { return {Kind::descriptor, 0, fd}; }

 private:
  friend class Process;
  enum class Kind { capture, inherit, descriptor };

  Output(Kind kind, std::size_t limit, int fd) : kind_(kind), limit_(limit), fd_(fd) {}

  Kind kind_;
  std::size_t limit_;
  int fd_;
};

struct Command {
  std::vector<std::string> argv;  // argv[0] is looked up in our PATH unless it contains a slash
  std::vector<std::pair<std::string, std::string>> env = {};  // added to our environment
  bool inherit_env = true;
  std::string cwd = {};                   // empty: ours
  std::optional<std::string> input = {};  // stdin of the child; none: end of file at once
  bool inherit_input = false;             // our stdin instead; then set own_group = false, or
                                          // reading from the terminal stops the child
  Output out = Output::captured();
  Output err = Output::captured();
  bool own_group = true;
  // For run(): SIGTERM after `timeout`, SIGKILL `grace` later.
  Nanos timeout = std::chrono::seconds(60);
  Nanos grace = std::chrono::seconds(2);
  // Kernels before 5.3 have no pidfd; a timer polls instead. Tests set it to use that path.
  bool poll_for_exit = false;
};

struct Exit {
  int code = 0;    // -1: unknown, another task has reaped the child
  int signal = 0;  // not 0: ended by this signal

  bool ok() const { return code == 0 && signal == 0; }

  std::string describe() const;  // "exit code 3", "killed by signal 9 (Killed)"
};

struct Captured {
  std::string text;
  bool truncated = false;  // the output exceeded the limit
};

struct Finished {
  Exit exit;
  Captured out, err;
};

// A running child. Belongs to one loop, which must outlive it.
class Process {
 public:
  static Result<Process> spawn(const Executor& loop, const Command& command);
  Process(Process&&) noexcept;
  Process& operator=(Process&&) noexcept;
  ~Process();

  pid_t pid() const;
  std::optional<Exit> exit() const;  // none: still running
  // Signals the child's group if it has its own. Does nothing after the child has ended.
  void signal(int number);
  Task<Exit> wait();
  Task<bool> wait_until(SteadyTime deadline);  // false: still running at the deadline
  // SIGTERM, then SIGKILL after `grace`; the rest of the group is killed with the child.
  Task<Exit> stop(Nanos grace);
  // The output captured so far; after wait() it is everything that the child wrote.
  Captured take_out();
  Captured take_err();

 private:
  struct Child;
  explicit Process(std::shared_ptr<Child> child);
  std::shared_ptr<Child> child_;
};

// Runs a program to its end. A bad exit code is not an error here; a timeout is (Code::timeout).
// Cancelling the task kills the child.
Task<Result<Finished>> run(Command command);

}  // namespace plim
