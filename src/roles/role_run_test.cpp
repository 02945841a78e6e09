#include "roles/role_run.hpp"

#include <chrono>
#include <csignal>
#include <stdexcept>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/clock.hpp"

namespace plim::roles {
namespace {

using ::testing::ElementsAre;
using Story = std::vector<std::string>;

// Records its calls, and raises the next of its signals after each.
class ToldRole final : public Role {
 public:
  enum class Start { works, fails, gives_up, throws, hangs, finishes };

  ToldRole(Story& story, Start start, std::vector<int> signals = {})
      : story_(story), start_(start), signals_(std::move(signals)) {}

  ~ToldRole() override { story_.emplace_back("destroyed"); }

  Task<Outcome<void>> start(Executor) override {
    story_.emplace_back("start");
    Failure failure{.code = Plm::refused, .exit = 7, .what = "no"};
    if (start_ == Start::fails) co_return tl::unexpected(failure);
    if (start_ == Start::throws) throw std::runtime_error("broken");
    if (start_ == Start::gives_up) give_up(failure);
    if (start_ == Start::finishes) finish();
    raise_next();
    if (start_ == Start::hangs) co_await system_clock().sleep(std::chrono::hours(1));
    co_return Outcome<void>();
  }

  Task<void> stop(std::string reason) override {
    story_.push_back("stop: " + reason);
    co_return;
  }

  void reload() override {
    story_.emplace_back("reload");
    raise_next();
  }

  void dump() override {
    story_.emplace_back("dump");
    raise_next();
  }

 private:
  void raise_next() {
    if (signals_.empty()) return;
    const int signal = signals_.front();
    signals_.erase(signals_.begin());
    std::raise(signal);
  }

  Story& story_;
  Start start_;
  std::vector<int> signals_;
};

Outcome<int> run_told(Story& story, ToldRole::Start start, std::vector<int> signals = {}) {
  return run_role("told", std::make_unique<ToldRole>(story, start, std::move(signals)));
}

TEST(RoleRun, reloads_and_dumps_by_signals_until_one_ends_it) {
  Story story;
  EXPECT_EQ(run_told(story, ToldRole::Start::works, {SIGHUP, SIGUSR2, SIGTERM}), 0);
  EXPECT_THAT(story, ElementsAre("start", "reload", "dump", "stop: signal 15", "destroyed"));
}

TEST(RoleRun, stops_what_could_not_start) {
  Story story;
  const auto ended = run_told(story, ToldRole::Start::fails);
  ASSERT_FALSE(ended);
  EXPECT_EQ(ended.error().exit, 7);
  EXPECT_THAT(story, ElementsAre("start", "stop: no", "destroyed"));
}

TEST(RoleRun, ends_with_the_failure_of_a_role_that_gives_up) {
  Story story;
  const auto ended = run_told(story, ToldRole::Start::gives_up);
  ASSERT_FALSE(ended);
  EXPECT_EQ(ended.error().what, "no");
  EXPECT_THAT(story, ElementsAre("start", "stop: no", "destroyed"));
}

TEST(RoleRun, ends_when_the_role_has_done_its_work) {
  Story story;
  EXPECT_EQ(run_told(story, ToldRole::Start::finishes), 0);
  EXPECT_THAT(story, ElementsAre("start", "stop: done", "destroyed"));
}

TEST(RoleRun, ends_a_hanging_start_on_a_stop_signal) {
  Story story;
  EXPECT_EQ(run_told(story, ToldRole::Start::hangs, {SIGINT}), 0);
  EXPECT_THAT(story, ElementsAre("start", "stop: signal 2", "destroyed"));
}

TEST(RoleRun, reports_an_exception_as_an_internal_error) {
  Story story;
  const auto ended = run_told(story, ToldRole::Start::throws);
  ASSERT_FALSE(ended);
  EXPECT_EQ(ended.error().code, Plm::internal);
  EXPECT_EQ(ended.error().exit, 3);
}

}  // namespace
}  // namespace plim::roles
