#include "base/worker_pool.hpp"

#include <atomic>
#include <latch>
#include <stdexcept>
#include <thread>

#include <gtest/gtest.h>

namespace plim {
namespace {

using ThreadId = std::thread::id;

Task<Result<ThreadId>> where_it_runs(WorkerPool& pool, ThreadId& resumed_on) {
  auto work = []() -> Result<ThreadId> { return std::this_thread::get_id(); };
  auto out = co_await pool.run(work);
  resumed_on = std::this_thread::get_id();
  co_return out;
}

TEST(WorkerPool, runs_on_another_thread_and_resumes_on_the_loop) {
  Loop loop;
  WorkerPool pool({.threads = 1});
  ThreadId resumed_on;
  auto ran_on = run_to_end(loop, where_it_runs(pool, resumed_on));
  ASSERT_TRUE(ran_on);
  EXPECT_NE(*ran_on, std::this_thread::get_id());
  EXPECT_EQ(resumed_on, std::this_thread::get_id());
}

Task<Result<std::string>> owned_text(WorkerPool& pool, std::string text) {
  auto work = [text]() -> Result<std::string> { return text + "!"; };
  co_return co_await pool.run(work);
}

TEST(WorkerPool, returns_values_and_errors) {
  Loop loop;
  WorkerPool pool({});
  EXPECT_EQ(run_to_end(loop, owned_text(pool, std::string(100, 'x'))).value().size(), 101u);
  auto failing = []() -> Result<void> { return fail(Code::not_found, "no"); };
  EXPECT_EQ(run_to_end(loop, pool.run(failing)).error().code, Code::not_found);
  auto throwing = []() -> Result<int> { throw std::runtime_error("broken"); };
  EXPECT_EQ(run_to_end(loop, pool.run(throwing)).error().message, "broken");
}

Task<void> count_one(WorkerPool& pool, std::atomic<int>& ran, int& came_back) {
  auto work = [&ran]() -> Result<int> { return ++ran; };
  auto out = co_await pool.run(work);
  if (out) ++came_back;
}

TEST(WorkerPool, runs_many_at_once) {
  Loop loop;
  WorkerPool pool({.threads = 4});
  std::atomic<int> ran{0};
  int came_back = 0;
  TaskGroup group(loop.executor());
  for (int i = 0; i < 500; ++i) group.spawn("one", count_one(pool, ran, came_back));
  run_to_end(loop, group.join());
  EXPECT_EQ(ran, 500);
  EXPECT_EQ(came_back, 500);
}

Task<void> block(WorkerPool& pool, std::latch& entered, std::latch& leave, Code& code) {
  auto work = [&]() -> Result<int> {
    entered.count_down();
    leave.wait();
    return 1;
  };
  auto out = co_await pool.run(work);
  code = out ? Code::unknown : out.error().code;
}

Task<void> note_code(WorkerPool& pool, std::optional<Code>& code) {
  auto work = []() -> Result<int> { return 1; };
  auto out = co_await pool.run(work);
  code = out ? Code::unknown : out.error().code;
}

TEST(WorkerPool, a_full_queue_rejects_work_and_stop_drops_the_rest) {
  Loop loop;
  WorkerPool pool({.threads = 1, .queue_limit = 1});
  std::latch entered(1), leave(1);
  Code first{};
  std::optional<Code> second, third, late;
  TaskGroup group(loop.executor());
  group.spawn("first", block(pool, entered, leave, first));
  loop.run_ready();
  entered.wait();
  group.spawn("second", note_code(pool, second));
  group.spawn("third", note_code(pool, third));
  loop.run_ready();
  EXPECT_FALSE(second);
  EXPECT_EQ(third, Code::unavailable);
  std::thread stopper([&] { pool.stop(); });
  while (!second) loop.run_ready();
  EXPECT_EQ(second, Code::cancelled);
  leave.count_down();
  stopper.join();
  run_to_end(loop, group.join());
  EXPECT_EQ(first, Code::unknown);
  group.spawn("late", note_code(pool, late));
  loop.run_ready();
  EXPECT_EQ(late, Code::unavailable);
}

TEST(WorkerPool, a_cancelled_caller_leaves_the_work_running) {
  Loop loop;
  WorkerPool pool({.threads = 1});
  std::latch entered(1), leave(1);
  Code code = Code::gone;
  TaskGroup group(loop.executor());
  group.spawn("cancelled", block(pool, entered, leave, code));
  loop.run_ready();
  entered.wait();
  run_to_end(loop, group.stop());
  EXPECT_EQ(code, Code::gone);
  leave.count_down();
  pool.stop();
  loop.run_ready();
}

}  // namespace
}  // namespace plim
