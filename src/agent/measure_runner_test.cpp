#include "agent/measure_runner.hpp"

#include <stdexcept>

#include <gtest/gtest.h>

#include "agent/testing/fake_node.hpp"

namespace plim::agent {
namespace {

using namespace std::chrono_literals;

class MeasureRunnerTest : public ::testing::Test {
 protected:
  MeasureRunnerTest() {
    config_.interval = 2;
    config_.dimm_facts = false;  // no program runs
    config_.storage.file = node_.root() + "/metrics";
    options_.host_root = node_.root();
    node_.start_kubelet();
  }

  void TearDown() override {
    running_.cancel();
    run_to_end(loop_, running_.stop());
    if (runner_) run_to_end(loop_, runner_->stop());
  }

  void start() {
    auto made = MeasureRunner::make(loop_.executor(), clock_, config_, options_);
    ASSERT_TRUE(made) << made.error().message;
    runner_ = std::move(*made);
    running_.spawn("measure", keep_running());
  }

  // Each iteration asks the kubelet.
  void ask_the_kubelet() {
    config_.node =
        KubernetesNodeConfig{.kubelet_endpoint = node_.url(), .timeout = 60, .sync_interval = 0};
  }

  Task<void> keep_running() {
    const auto done = co_await runner_->run();
    EXPECT_TRUE(done);
    ended_ = true;
  }

  template <class Condition>
  void until(Condition condition) {
    for (int turns = 0; !condition(); ++turns) {
      if (turns == 100'000) throw std::runtime_error("it did not come about");
      loop_.run_ready();
    }
  }

  // Advances the clock, and runs to the end of the iteration that this begins, if it begins one.
  void pass(Nanos time) {
    clock_.advance(time);
    until([this] { return ended_ || clock_.sleepers() > 0; });
  }

  std::int64_t iterations() const { return int_at(runner_->state(), {"iterations"}).value_or(-1); }

  Loop loop_;
  FakeClock clock_;
  testing::FakeNode node_{loop_};
  MeasureConfig config_;
  RunnerOptions options_;
  std::unique_ptr<MeasureRunner> runner_;
  bool ended_ = false;
  TaskGroup running_{loop_.executor()};
};

TEST_F(MeasureRunnerTest, measures_at_once_and_then_every_interval) {
  start();
  pass(0s);
  EXPECT_EQ(iterations(), 1);
  pass(1900ms);
  EXPECT_EQ(iterations(), 1);
  pass(100ms);
  EXPECT_EQ(iterations(), 2);
  for (int i = 3; i < 10; ++i) {
    pass(2s);
    EXPECT_EQ(iterations(), i);
  }
}

TEST_F(MeasureRunnerTest, ends_after_its_iterations) {
  options_.iterations = 2;
  start();
  pass(0s);
  EXPECT_FALSE(ended_);
  pass(2s);
  EXPECT_TRUE(ended_);
  EXPECT_EQ(iterations(), 2);
}

TEST_F(MeasureRunnerTest, leaves_out_the_iterations_that_a_slow_one_missed) {
  ask_the_kubelet();
  start();
  pass(0s);
  ASSERT_EQ(iterations(), 1);
  node_.is_slow = true;
  clock_.advance(2s);
  until([this] { return node_.asked == 2; });
  clock_.advance(5s);  // from 2 s to 7 s: those at 4 s and 6 s cannot begin
  node_.let_answer();
  pass(0s);
  EXPECT_EQ(iterations(), 2);
  pass(900ms);
  EXPECT_EQ(iterations(), 2);
  pass(100ms);
  EXPECT_EQ(iterations(), 3) << "it keeps to its grid";
  pass(2s);
  EXPECT_EQ(iterations(), 4);
}

TEST_F(MeasureRunnerTest, is_not_alive_while_an_iteration_takes_too_long) {
  ask_the_kubelet();
  start();
  EXPECT_TRUE(runner_->alive());
  EXPECT_FALSE(runner_->ready());
  pass(0s);
  EXPECT_TRUE(runner_->ready());
  node_.is_slow = true;
  clock_.advance(2s);
  until([this] { return node_.asked == 2; });
  clock_.advance(3900ms);
  EXPECT_TRUE(runner_->alive());
  clock_.advance(100ms);
  EXPECT_FALSE(runner_->alive()) << "three intervals without an iteration";
  node_.let_answer();
  pass(0s);
  EXPECT_TRUE(runner_->alive());
}

TEST_F(MeasureRunnerTest, reports_a_kubelet_that_fails_and_goes_on) {
  ask_the_kubelet();
  node_.status = 403;
  start();
  pass(0s);
  EXPECT_EQ(text_at(runner_->state(), {"node"}), "http_403");
  EXPECT_EQ(iterations(), 1);
  node_.status = 200;
  pass(2s);
  EXPECT_EQ(text_at(runner_->state(), {"node"}), "up");
  EXPECT_EQ(iterations(), 2);
}

}  // namespace
}  // namespace plim::agent
