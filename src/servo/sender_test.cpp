#include "servo/sender.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/log.hpp"
#include "base/loop.hpp"
#include "base/testing/stepped_clock.hpp"
#include "servo/testing/fake_receiver.hpp"
#include "servo/testing/pods.hpp"

namespace plim::servo {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class SenderTest : public ::testing::Test {
 protected:
  SenderTest() { sender_.start(); }

  void TearDown() override {
    receiver_.held.clear();
    run_to_end(loop_, sender_.stop());
  }

  void add(std::string uid, std::string app) {
    sender_.add(testing::some_run(std::move(uid), std::move(app), clock_.wall()));
  }

  void refuse(const std::string& app, int status) {
    receiver_.answers[app].push_back(PostAnswer{.status = status});
  }

  Sender::Callbacks callbacks() {
    return {.on_sent = [this](const loop::RunRecord& run) { sent_.push_back(run.uid); },
            .on_dead = [this](const loop::RunRecord& run,
                              const std::string&) { dead_.push_back(run.uid); }};
  }

  Loop loop_;
  FakeClock clock_;
  SeededRandom random_{1};
  metrics::Registry registry_;
  Metrics metrics_{registry_};
  testing::FakeReceiver receiver_{loop_.executor()};
  std::vector<std::string> sent_, dead_;
  Sender sender_{loop_.executor(),  receiver_, metrics_, callbacks(),
                 Sender::Options{}, clock_,    random_};
};

TEST_F(SenderTest, sends_each_run_once_with_its_key) {
  add("u1", "a");
  add("u2", "b");
  loop_.run_ready();
  EXPECT_THAT(sent_, ElementsAre("u1", "u2"));
  EXPECT_THAT(receiver_.keys, ElementsAre("u1/main/0", "u2/main/0"));
  EXPECT_EQ(sender_.queued(), 0u);
}

TEST_F(SenderTest, retries_after_a_growing_wait) {
  for (int i = 0; i < 8; ++i) refuse("a", 503);
  add("u1", "a");
  loop_.run_ready();
  for (double wait : {1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 60.0, 60.0}) {
    ASSERT_EQ(clock_.sleepers(), 1u);
    const SteadyTime before = clock_.steady();
    clock_.advance_to_next();
    loop_.run_ready();
    const double waited = std::chrono::duration<double>(clock_.steady() - before).count();
    EXPECT_GE(waited, wait * 0.79);
    EXPECT_LE(waited, wait * 1.21);
  }
  EXPECT_THAT(sent_, ElementsAre("u1"));
  EXPECT_EQ(receiver_.keys.size(), 9u);
}

TEST_F(SenderTest, retries_without_an_answer) {
  receiver_.answers["a"].push_back(fail(Code::unavailable, "connection refused"));
  receiver_.answers["a"].push_back(fail(Code::timeout, "too late"));
  add("u1", "a");
  loop_.run_ready();
  for (int i = 0; i < 2; ++i) {
    clock_.advance_to_next();
    loop_.run_ready();
  }
  EXPECT_THAT(sent_, ElementsAre("u1"));
}

TEST_F(SenderTest, waits_as_long_as_the_receiver_asks) {
  receiver_.answers["a"].push_back(PostAnswer{.status = 429, .retry_after = 120s});
  add("u1", "a");
  loop_.run_ready();
  const SteadyTime before = clock_.steady();
  clock_.advance_to_next();
  loop_.run_ready();
  EXPECT_EQ(clock_.steady() - before, 120s);
  EXPECT_THAT(sent_, ElementsAre("u1"));
}

TEST_F(SenderTest, a_rejected_run_is_a_dead_letter_and_the_next_is_sent) {
  for (int status : {400, 401, 404, 301, 501}) refuse("a", status);
  for (int i = 0; i < 6; ++i) add(std::to_string(i), "a");
  loop_.run_ready();
  EXPECT_THAT(dead_, ElementsAre("0", "1", "2", "3", "4"));
  EXPECT_THAT(sent_, ElementsAre("5"));
}

TEST_F(SenderTest, knows_which_statuses_are_worth_a_retry) {
  for (int status : {408, 425, 429, 500, 502, 503, 504}) EXPECT_TRUE(is_worth_retrying(status));
  for (int status : {200, 301, 400, 401, 403, 404, 409, 413, 501, 505})
    EXPECT_FALSE(is_worth_retrying(status)) << status;
}

TEST_F(SenderTest, gives_up_after_a_day) {
  for (int i = 0; i < 5000; ++i) refuse("a", 503);
  add("u1", "a");
  loop_.run_ready();
  const SteadyTime began = clock_.steady();
  while (clock_.advance_to_next()) loop_.run_ready();
  EXPECT_THAT(dead_, ElementsAre("u1"));
  EXPECT_GE(clock_.steady() - began, 24h);
  EXPECT_LE(clock_.steady() - began, 24h + 2min);
}

TEST_F(SenderTest, gives_up_after_a_day_though_the_clock_is_set) {
  plim::testing::SteppedClock stepped(clock_);
  Sender sender(loop_.executor(), receiver_, metrics_, callbacks(), {}, stepped, random_);
  sender.start();
  const auto pass = [&](Nanos duration) {
    const SteadyTime end = clock_.steady() + duration;
    while (clock_.steady() < end && clock_.advance_to_next()) loop_.run_ready();
  };
  for (int i = 0; i < 5000; ++i) refuse("a", 503);
  sender.add(testing::some_run("u1", "a", stepped.wall()));
  loop_.run_ready();
  stepped.step(48h);
  pass(1h);
  EXPECT_THAT(dead_, IsEmpty());
  stepped.step(-96h);
  pass(22h);
  EXPECT_THAT(dead_, IsEmpty());
  pass(1h + 2min);
  EXPECT_THAT(dead_, ElementsAre("u1"));
  run_to_end(loop_, sender.stop());
}

TEST_F(SenderTest, gives_up_soon_on_a_run_that_waited_a_day_before_a_restart) {
  for (int i = 0; i < 5000; ++i) refuse("a", 503);
  sender_.add(testing::some_run("u1", "a", clock_.wall() - 25h));
  loop_.run_ready();
  EXPECT_THAT(dead_, ElementsAre("u1"));
}

TEST_F(SenderTest, keeps_the_order_of_one_id_and_never_has_two_of_it_in_flight) {
  refuse("a", 503);
  for (int i = 0; i < 5; ++i) add(std::to_string(i), "a");
  loop_.run_ready();
  EXPECT_THAT(sent_, IsEmpty());
  clock_.advance_to_next();
  loop_.run_ready();
  EXPECT_THAT(sent_, ElementsAre("0", "1", "2", "3", "4"));
  EXPECT_EQ(receiver_.most_of_one, 1);
}

TEST_F(SenderTest, a_failing_id_does_not_delay_others) {
  for (int i = 0; i < 20; ++i) {
    refuse("bad" + std::to_string(i), 503);
    add("x" + std::to_string(i), "bad" + std::to_string(i));
  }
  receiver_.held.insert("slow");
  add("s", "slow");
  add("u1", "good");
  loop_.run_ready();
  EXPECT_THAT(sent_, ElementsAre("u1"));
}

TEST_F(SenderTest, has_at_most_eight_posts_in_flight) {
  for (int i = 0; i < 20; ++i) {
    receiver_.held.insert(std::to_string(i));
    add("u" + std::to_string(i), std::to_string(i));
  }
  loop_.run_ready();
  EXPECT_EQ(receiver_.all_in_flight, 8);
  for (int i = 0; i < 20; ++i) receiver_.release(std::to_string(i));
  loop_.run_ready();
  EXPECT_EQ(sent_.size(), 20u);
  EXPECT_EQ(receiver_.most, 8);
}

// Fails without a wait, as when no request can be built.
TEST_F(SenderTest, posts_that_fail_at_once_do_not_recurse) {
  log::Capture quiet;
  for (int i = 0; i < 2'000; ++i) {
    refuse("a", 400);
    add(std::to_string(i), "a");
  }
  loop_.run_ready();
  EXPECT_EQ(dead_.size(), 2'000u);
  EXPECT_EQ(receiver_.most, 1);
}

TEST_F(SenderTest, drains_posts_in_flight_and_starts_no_more) {
  receiver_.held.insert("a");
  add("u1", "a");
  add("u2", "a");
  loop_.run_ready();
  TaskGroup tasks(loop_.executor());
  bool done = false;
  auto drain = [](Sender& sender, bool& flag) -> Task<void> {
    co_await sender.drain(3s);
    flag = true;
  };
  tasks.spawn("drain", drain(sender_, done));
  loop_.run_ready();
  EXPECT_FALSE(done);
  receiver_.release("a");
  loop_.run_ready();
  EXPECT_TRUE(done);
  EXPECT_THAT(sent_, ElementsAre("u1"));
  run_to_end(loop_, tasks.stop());
}

TEST_F(SenderTest, does_not_drain_for_ever) {
  receiver_.held.insert("a");
  add("u1", "a");
  loop_.run_ready();
  TaskGroup tasks(loop_.executor());
  tasks.spawn("drain", sender_.drain(3s));
  loop_.run_ready();
  EXPECT_EQ(tasks.running(), 1u);
  clock_.advance(3s);
  loop_.run_ready();
  EXPECT_EQ(tasks.running(), 0u);
  run_to_end(loop_, tasks.stop());
}

}  // namespace
}  // namespace plim::servo
