// When processes of this machine became the program they run and when they ended, by the kernel's
// own clock: whoever else tells such a time has to get a core first.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string_view>
#include <sys/types.h>
#include <unordered_map>

#include "base/clock.hpp"
#include "base/fd.hpp"
#include "base/result.hpp"
#include "base/task.hpp"

namespace plim::local::kubelet {

// One message of the kernel's process connector, as far as we care.
struct ProcessEvent {
  enum class What : std::uint8_t {
    listening,  // the answer to the request to be told
    executed,
    ended,
  };

  What what = What::listening;
  pid_t process = 0;
  bool thread = false;        // of `ended`: another thread than the first of that process
  Nanos when{0};              // CLOCK_MONOTONIC
  std::uint32_t request = 0;  // of `listening`: which one
};

// None: about something else, or no such message at all.
std::optional<ProcessEvent> decode_process_event(std::string_view message);

// The processes that were told of last, each in one place however many threads it has. A process
// has ended with the last of its threads, which need not be the first one.
class ProcessLives {
 public:
  static constexpr std::size_t kKept = 4096;

  void note(const ProcessEvent& event);
  std::optional<Nanos> find(ProcessEvent::What what, pid_t process, Nanos since) const;

 private:
  struct Life {
    Nanos executed{0}, ended{0};  // zero: not told
  };

  std::unordered_map<pid_t, Life> lives_;
  std::deque<pid_t> order_;  // oldest first
};

// Listens from start() on. Where the kernel does not let us (it wants root before 6.6, and the
// first PID and network namespaces), or has had to drop what we were too slow for, it knows
// nothing, which is said once in the log, at debug level. Messages wait in the socket until
// somebody asks or a second has passed: a machine that starts a thousand processes a second wakes
// us once. Belongs to one loop; co_await stop() before destroying it.
class ProcessEvents {
 public:
  static constexpr int kBuffer = 8 << 20;  // of the socket: thousands of messages

  explicit ProcessEvents(const Executor& loop, int buffer = kBuffer);
  ~ProcessEvents();

  void start();
  Task<void> stop();

  // The first time that it became a program, and when its last thread ended; none before `since`.
  // To be asked when it has just happened: only the newest are remembered, and a message that is
  // under way is waited for, a moment, unless the kernel has just dropped some.
  Task<std::optional<Nanos>> executed(pid_t process, Nanos since);
  Task<std::optional<Nanos>> ended(pid_t process, Nanos since);

 private:
  Result<void> listen();
  void request(std::uint32_t what);
  void read_messages();
  Task<std::optional<Nanos>> find(ProcessEvent::What what, pid_t process, Nanos since);
  Task<void> keep_reading();
  void say_once(std::string_view why);

  int buffer_;
  Fd socket_;
  std::uint32_t number_ = 0;  // of our request
  bool heard_ = false;        // the kernel has answered it
  bool said_ = false;
  std::optional<SteadyTime> dropped_at_;  // when we last learnt that messages were
  ProcessLives lives_;
  TaskGroup tasks_;
};

}  // namespace plim::local::kubelet
