// Runs commands that the user can end with Ctrl-C.
#pragma once

#include <optional>
#include <utility>

#include "base/loop.hpp"
#include "base/signals.hpp"

namespace plim::cli {

inline constexpr int kInterrupted = 130;  // the exit code

// Returns the result of `task`, or nothing if SIGINT or SIGTERM cancelled it.
template <class T>
std::optional<T> run_until_signal(Loop& loop, Task<T> task) {
  struct Steps {
    static Task<int> main(Task<T> task, std::optional<T>* out) {
      Executor here = co_await current_loop();
      Signals signals(here);
      TaskGroup group(here);
      TaskGroup::Handle waiting = group.spawn("stop", wait_for_stop(&signals, &group));
      group.spawn("command", work(std::move(task), out, waiting));
      co_await group.join();
      co_await group.stop();
      // Cancelling may have turned the result into a failure.
      if (signals.stop_signal() != 0) out->reset();
      co_return 0;
    }

    static Task<void> work(Task<T> task, std::optional<T>* out, TaskGroup::Handle waiting) {
      out->emplace(co_await std::move(task));
      waiting.cancel();
    }

    static Task<void> wait_for_stop(Signals* signals, TaskGroup* group) {
      co_await signals->stop_requested();
      group->cancel();
    }
  };

  std::optional<T> out;
  loop.run(Steps::main(std::move(task), &out));
  return out;
}

}  // namespace plim::cli
