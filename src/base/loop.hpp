// Event loops: one per thread; they share no work.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "base/task.hpp"

namespace plim {

// Runs on the thread that calls run().
class Loop {
 public:
  Loop();
  ~Loop();
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  Executor executor() const;
  // Runs until `main` has completed and returns its value. An exception of main leaves run().
  int run(Task<int> main);
  // Runs what is ready without waiting; for tests that control time.
  void run_ready();

 private:
  friend class LoopPool;
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// A fixed number of loops, each with its own thread; they stop and join when destroyed.
class LoopPool {
 public:
  explicit LoopPool(unsigned threads);
  ~LoopPool();
  LoopPool(const LoopPool&) = delete;
  LoopPool& operator=(const LoopPool&) = delete;
  std::vector<Executor> executors() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// Runs `work` on `loop` soon; callable from any thread.
void post_to(const Executor& loop, std::function<void()> work);

// For tests and small tools: a loop that runs `task` to its end and returns its value.
template <class T>
T run_to_end(Loop& loop, Task<T> task) {
  std::optional<T> out;
  auto main = [](Task<T> inner, std::optional<T>& result) -> Task<int> {
    result.emplace(co_await std::move(inner));
    co_return 0;
  };
  loop.run(main(std::move(task), out));
  return std::move(*out);
}

inline void run_to_end(Loop& loop, Task<void> task) {
  auto main = [](Task<void> inner) -> Task<int> {
    co_await std::move(inner);
    co_return 0;
  };
  loop.run(main(std::move(task)));
}

}  // namespace plim
