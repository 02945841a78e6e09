#include "servo/paced_client.hpp"

#include <deque>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/event.hpp"
#include "base/loop.hpp"
#include "kube/testing/stub_client.hpp"

namespace plim::servo {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Lines as they arrive from a server.
struct Arrivals {
  explicit Arrivals(const Executor& loop) : changed(loop) {}

  void add(std::string line) {
    lines.emplace_back(std::move(line));
    changed.notify();
  }

  std::deque<Result<std::optional<std::string>>> lines;
  Event changed;
};

class ArrivingWatch final : public kube::Watch {
 public:
  explicit ArrivingWatch(Arrivals& from) : from_(from) {}

  Task<Result<std::optional<std::string>>> next() override {
    while (from_.lines.empty()) co_await from_.changed.wait();
    auto out = std::move(from_.lines.front());
    from_.lines.pop_front();
    co_return out;
  }

 private:
  Arrivals& from_;
};

class ArrivingClient final : public plim::testing::StubClient {
 public:
  explicit ArrivingClient(Arrivals& from) : from_(from) {}

  Answer<std::unique_ptr<kube::Watch>> watch(Resource, kube::WatchOptions) override {
    if (is_down) co_return fail(Code::unavailable, "down");
    co_return std::make_unique<ArrivingWatch>(from_);
  }

  bool is_down = false;

 private:
  Arrivals& from_;
};

class PacedClientTest : public ::testing::Test {
 protected:
  PacedClientTest() {
    tasks_.spawn("reader", read());
    loop_.run_ready();
  }

  ~PacedClientTest() override { run_to_end(loop_, tasks_.stop()); }

  Task<void> read() {
    auto watch = co_await paced_->watch(kube::resources::pods, kube::WatchOptions());
    if (!watch) co_return;
    for (;;) {
      auto line = co_await (*watch)->next();
      if (!line || !*line) {
        read_.emplace_back(line ? "end" : line.error().message);
        co_return;
      }
      read_.push_back(**line);
    }
  }

  void arrive(std::string line) {
    arrivals_.add(std::move(line));
    loop_.run_ready();
  }

  void pass(Nanos time) {
    clock_.advance(time);
    loop_.run_ready();
  }

  Loop loop_;
  FakeClock clock_;
  Arrivals arrivals_{loop_.executor()};
  std::shared_ptr<ArrivingClient> client_ = std::make_shared<ArrivingClient>(arrivals_);
  std::shared_ptr<kube::Client> paced_ =
      with_paced_watches(loop_.executor(), client_, 50ms, clock_);
  std::vector<std::string> read_;
  TaskGroup tasks_{loop_.executor()};
};

TEST_F(PacedClientTest, delivers_a_single_event_at_once) {
  for (int i = 0; i < 3; ++i) {
    pass(50ms);
    arrive("x");
    EXPECT_EQ(read_.size(), static_cast<std::size_t>(i) + 1);
  }
}

TEST_F(PacedClientTest, delivers_frequent_events_in_groups_and_in_order) {
  pass(1s);
  arrive("1");
  EXPECT_THAT(read_, ElementsAre("1"));
  pass(5ms);
  arrive("2");
  pass(20ms);
  arrive("3");
  pass(29ms);
  arrive("4");
  EXPECT_THAT(read_, ElementsAre("1"));
  pass(1ms);
  EXPECT_THAT(read_, ElementsAre("1", "2", "3", "4"));
  pass(5ms);
  arrive("5");
  EXPECT_THAT(read_, ElementsAre("1", "2", "3", "4"));
  pass(50ms);
  EXPECT_THAT(read_, ElementsAre("1", "2", "3", "4", "5"));
}

TEST_F(PacedClientTest, delivers_events_that_have_arrived_without_a_pause) {
  pass(1s);
  for (const char* line : {"1", "2", "3"}) arrivals_.add(line);
  loop_.run_ready();
  EXPECT_THAT(read_, ElementsAre("1", "2", "3"));
}

TEST_F(PacedClientTest, does_not_hold_a_flood_of_events) {
  pass(1s);
  for (int i = 0; i < 100; ++i) arrivals_.add("x");
  loop_.run_ready();
  pass(1ms);
  arrive("y");
  EXPECT_EQ(read_.size(), 101u);
}

TEST_F(PacedClientTest, delivers_the_end_and_failures_of_a_watch_at_once) {
  arrivals_.lines.emplace_back(fail(Code::unavailable, "broken"));
  arrivals_.changed.notify();
  loop_.run_ready();
  EXPECT_THAT(read_, ElementsAre("broken"));
  arrivals_.lines.emplace_back(std::optional<std::string>());
  tasks_.spawn("reader", read());
  loop_.run_ready();
  EXPECT_THAT(read_, ElementsAre("broken", "end"));
  client_->is_down = true;
  auto refused = run_to_end(loop_, paced_->watch(kube::resources::pods, kube::WatchOptions()));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message, "down");
}

TEST_F(PacedClientTest, can_be_stopped_while_it_holds_events) {
  arrive("1");
  EXPECT_THAT(read_, IsEmpty());
  EXPECT_EQ(clock_.sleepers(), 1u);
  run_to_end(loop_, tasks_.stop());
  EXPECT_THAT(read_, IsEmpty());
  EXPECT_EQ(clock_.sleepers(), 0u);
}

}  // namespace
}  // namespace plim::servo
