// When processes of this machine called exec and when they ended, by the kernel's own clock. Any
// other process that measures these times first has to wait for a core.
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

// The fields we use of one message of the kernel's process connector.
struct ProcessEvent {
  enum class What : std::uint8_t {
    listening,  // the answer to our request to subscribe
    executed,
    ended,
  };

  What what = What::listening;
  pid_t process = 0;
  bool thread = false;        // for `ended`: not the first thread of the process
  Nanos when{0};              // CLOCK_MONOTONIC
  std::uint32_t request = 0;  // for `listening`: the number of the request
};

// None: a message about something else, or not a message of the connector.
std::optional<ProcessEvent> decode_process_event(std::string_view message);

// The newest processes that the kernel reported, one entry each for all threads. A process has
// ended when its last thread has, which may not be the first one.
class ProcessLives {
 public:
  static constexpr std::size_t kKept = 4096;

  void note(const ProcessEvent& event);
  std::optional<Nanos> find(ProcessEvent::What what, pid_t process, Nanos since) const;

 private:
  struct Life {
    Nanos executed{0}, ended{0};  // zero: not reported
  };

  std::unordered_map<pid_t, Life> lives_;
  std::deque<pid_t> order_;  // oldest first
};

// Listens from start() on. The kernel may not allow it (before 6.6 it needs root, and always the
// first PID and network namespaces) or may drop messages that we read too slowly. Then no times are
// known, and this is logged once at debug level. Messages stay in the socket until a caller asks or
// a second has passed: so a machine that starts a thousand processes a second wakes us once.
// Belongs
// to one loop; co_await stop() before destroying it.
class ProcessEvents {
 public:
  static constexpr int kBuffer = 8 << 20;  // of the socket: holds thousands of messages

  explicit ProcessEvents(const Executor& loop, int buffer = kBuffer);
  ~ProcessEvents();

  void start();
  Task<void> stop();

  // When the process first called exec, and when its last thread ended; none if that was before
  // `since`. Ask right after it happened: only the newest processes are kept. A message that is
  // still
  // on its way is awaited for a moment, unless the kernel has just dropped messages.
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
  bool heard_ = false;        // the kernel has answered the request
  bool said_ = false;
  std::optional<SteadyTime> dropped_at_;  // when we last noticed dropped messages
  ProcessLives lives_;
  TaskGroup tasks_;
};

}  // namespace plim::local::kubelet
