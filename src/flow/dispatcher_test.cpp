#include "flow/dispatcher.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace plim::flow {
namespace {

using namespace std::chrono_literals;
using Verdict = Dispatcher::Verdict;

constexpr SteadyTime kStart{};

Slice slice(std::uint64_t order) {
  return {.key = {.slicer = 0, .order = order}, .id = "s" + std::to_string(order), .request = "{}"};
}

SliceReport report_of(const Dispatcher::Assignment& given, Outcome outcome = Outcome::completed) {
  return {.key = given.slice.key, .attempt = given.slice.attempt, .outcome = outcome};
}

struct DispatcherTest : ::testing::Test {
  Dispatcher dispatcher{{.lease = 30s, .most_deaths = 3}};
  std::vector<Dispatcher::Order> orders;

  Dispatcher::Assignment assign() {
    auto out = dispatcher.assign(1);
    PLIM_ASSERT(out);
    return *out;
  }
};

TEST_F(DispatcherTest, gives_the_oldest_slice_to_the_freest_worker) {
  for (std::uint64_t i = 1; i <= 3; ++i) dispatcher.add(slice(i));
  dispatcher.join(1, kStart);
  dispatcher.join(2, kStart);
  auto first = dispatcher.assign(2), second = dispatcher.assign(2), third = dispatcher.assign(2);
  EXPECT_EQ(first->slice.key.order, 1u);
  EXPECT_NE(first->worker, second->worker);
  EXPECT_EQ(third->slice.key.order, 3u);
  EXPECT_FALSE(dispatcher.assign(2));
}

TEST_F(DispatcherTest, slices_of_a_dead_worker_come_first_and_count_as_redispatched) {
  for (std::uint64_t i = 1; i <= 3; ++i) dispatcher.add(slice(i));
  dispatcher.join(1, kStart);
  assign();
  EXPECT_TRUE(dispatcher.leave(1).empty());
  dispatcher.join(2, kStart);
  auto again = assign();
  EXPECT_EQ(again.slice.key.order, 1u);
  EXPECT_EQ(again.slice.attempt, 2u);
  EXPECT_EQ(dispatcher.redispatched(), 1u);
}

TEST_F(DispatcherTest, a_silent_worker_loses_its_slice_and_gets_a_cancel) {
  dispatcher.add(slice(1));
  dispatcher.join(1, kStart);
  auto first = assign();
  EXPECT_EQ(dispatcher.next_expiry(), kStart + 30s);
  EXPECT_TRUE(dispatcher.expire(kStart + 29s).empty());
  auto told = dispatcher.expire(kStart + 30s);
  ASSERT_EQ(told.size(), 1u);
  EXPECT_EQ(told[0].worker, 1u);
  EXPECT_EQ(told[0].cancel.attempt, first.slice.attempt);
  EXPECT_FALSE(dispatcher.assign(1)) << "not to the silent one again";
  dispatcher.heard_from(1, kStart + 31s);
  dispatcher.join(2, kStart + 31s);
  EXPECT_EQ(assign().worker, 2u);
}

TEST_F(DispatcherTest, a_heartbeat_keeps_the_lease) {
  dispatcher.add(slice(1));
  dispatcher.join(1, kStart);
  assign();
  dispatcher.heard_from(1, kStart + 20s);
  EXPECT_TRUE(dispatcher.expire(kStart + 40s).empty());
  EXPECT_FALSE(dispatcher.expire(kStart + 50s).empty());
}

TEST_F(DispatcherTest, time_without_reading_does_not_count_as_silence) {
  dispatcher.add(slice(1));
  dispatcher.join(1, kStart);
  assign();
  dispatcher.excuse(3600s);
  EXPECT_TRUE(dispatcher.expire(kStart + 3629s).empty());
  EXPECT_FALSE(dispatcher.expire(kStart + 3630s).empty());
}

TEST_F(DispatcherTest, a_late_report_of_an_open_slice_counts_and_cancels_the_newer_attempt) {
  dispatcher.add(slice(1));
  dispatcher.join(1, kStart);
  auto old = assign();
  dispatcher.expire(kStart + 30s);
  dispatcher.join(2, kStart + 30s);
  auto newer = assign();
  EXPECT_EQ(dispatcher.report(1, report_of(old), orders), Verdict::accepted);
  ASSERT_EQ(orders.size(), 1u);
  EXPECT_EQ(orders[0].worker, 2u);
  EXPECT_EQ(orders[0].cancel.attempt, newer.slice.attempt);
  EXPECT_EQ(dispatcher.report(2, report_of(newer), orders), Verdict::duplicate);
  EXPECT_EQ(dispatcher.duplicates(), 1u);
  EXPECT_EQ(dispatcher.open(), 0u);
}

TEST_F(DispatcherTest, a_late_report_of_a_slice_that_waits_again_takes_it_from_the_queue) {
  dispatcher.add(slice(1));
  dispatcher.join(1, kStart);
  auto old = assign();
  dispatcher.expire(kStart + 30s);
  EXPECT_EQ(dispatcher.report(1, report_of(old), orders), Verdict::accepted);
  EXPECT_EQ(dispatcher.queued(), 0u);
  EXPECT_TRUE(orders.empty());
}

TEST_F(DispatcherTest, a_late_failure_leaves_the_slice_to_the_newer_attempt) {
  dispatcher.add(slice(1));
  dispatcher.join(1, kStart);
  auto old = assign();
  dispatcher.expire(kStart + 30s);
  dispatcher.join(2, kStart + 30s);
  auto newer = assign();
  EXPECT_EQ(dispatcher.report(1, report_of(old, Outcome::failed), orders), Verdict::dropped);
  EXPECT_EQ(dispatcher.report(2, report_of(newer), orders), Verdict::accepted);
}

TEST_F(DispatcherTest, a_slice_that_kills_its_workers_is_given_up) {
  dispatcher.add(slice(1));
  for (WorkerNumber worker = 1; worker <= 3; ++worker) {
    dispatcher.join(worker, kStart);
    assign();
    EXPECT_EQ(dispatcher.leave(worker).size(), worker == 3 ? 1u : 0u);
  }
  EXPECT_EQ(dispatcher.open(), 0u);
}

TEST_F(DispatcherTest, a_prefetched_slice_is_not_blamed_for_a_death) {
  dispatcher.add(slice(1));
  dispatcher.add(slice(2));
  for (WorkerNumber worker = 1; worker <= 3; ++worker) {
    dispatcher.join(worker, kStart);
    (void)dispatcher.assign(2);
    (void)dispatcher.assign(2);
    for (const Slice& lost : dispatcher.leave(worker)) EXPECT_EQ(lost.key.order, 1u);
  }
  EXPECT_EQ(dispatcher.queued(), 1u);
}

TEST_F(DispatcherTest, reports_of_unknown_attempts_are_dropped) {
  dispatcher.add(slice(1));
  EXPECT_EQ(dispatcher.report(7, {.key = {0, 1}, .attempt = 0}, orders), Verdict::dropped);
  EXPECT_EQ(dispatcher.report(7, {.key = {0, 1}, .attempt = 9}, orders), Verdict::dropped);
  EXPECT_EQ(dispatcher.open(), 1u);
}

// For any sequence of events: every slice is accepted once, and there are never more duplicates
// than repeated dispatches.
RC_GTEST_PROP(Dispatcher, every_slice_is_accepted_exactly_once, ()) {
  Dispatcher dispatcher({.lease = 30s, .most_deaths = 1000});
  const auto count = *rc::gen::inRange<std::uint64_t>(1, 30);
  for (std::uint64_t i = 1; i <= count; ++i) dispatcher.add(slice(i));
  std::map<SliceKey, int> accepted;
  std::vector<Dispatcher::Assignment> in_flight;
  SteadyTime now{};
  WorkerNumber last = 0;
  std::vector<WorkerNumber> alive;
  auto join = [&] {
    dispatcher.join(++last, now);
    alive.push_back(last);
  };
  auto deliver = [&](std::size_t at) {
    auto given = in_flight[at];
    in_flight.erase(in_flight.begin() + static_cast<std::ptrdiff_t>(at));
    std::vector<Dispatcher::Order> orders;
    if (dispatcher.report(given.worker, report_of(given), orders) == Verdict::accepted)
      ++accepted[given.slice.key];
  };
  for (int step : *rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 1000))) {
    if (step % 5 == 0) join();
    if (step % 5 == 1)
      if (auto given = dispatcher.assign(2)) in_flight.push_back(*given);
    if (step % 5 == 2 && !in_flight.empty())
      deliver(static_cast<std::size_t>(step) % in_flight.size());
    if (step % 5 == 3) dispatcher.expire(now += 31s);
    if (step % 5 == 4 && !alive.empty()) {
      WorkerNumber dead = alive.back();
      alive.pop_back();
      // The reports of a dead worker are lost, or arrive late.
      if (step % 2 == 0)
        std::erase_if(in_flight, [&](const auto& given) { return given.worker == dead; });
      dispatcher.leave(dead);
    }
  }
  while (dispatcher.open() > 0) {
    join();
    while (auto given = dispatcher.assign(2)) in_flight.push_back(*given);
    while (!in_flight.empty()) deliver(0);
    // Slices of workers that died silently.
    dispatcher.expire(now += 31s);
  }
  RC_ASSERT(accepted.size() == count);
  for (const auto& [key, times] : accepted) RC_ASSERT(times == 1);
  RC_ASSERT(dispatcher.duplicates() <= dispatcher.redispatched());
}

}  // namespace
}  // namespace plim::flow
