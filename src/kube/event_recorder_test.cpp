#include "kube/event_recorder.hpp"

#include <gtest/gtest.h>

#include "base/loop.hpp"
#include "base/random.hpp"
#include "kube/testing/object_api.hpp"

namespace plim::kube {
namespace {

using namespace std::chrono_literals;

EventNote note(std::string message, std::string pod = "web") {
  EventNote out;
  out.about = {"v1", "Pod", "shop", std::move(pod), "u-1"};
  out.reason = "Started";
  out.message = std::move(message);
  return out;
}

const WallTime kRecorded{std::chrono::hours(500'000)};

TEST(EventCorrelator, counts_repeats_under_one_name) {
  EventCorrelator correlator;
  auto first = correlator.observe(note("up"), kRecorded);
  auto second = correlator.observe(note("up"), kRecorded + 3s);
  ASSERT_TRUE(first && second);
  EXPECT_EQ(first->count, 1);
  EXPECT_EQ(second->count, 2);
  EXPECT_EQ(second->name, first->name);
  EXPECT_EQ(second->first, kRecorded);
  EXPECT_EQ(second->last, kRecorded + 3s);
  EXPECT_EQ(first->name, fmt::format("web.{:x}", kRecorded.time_since_epoch().count()));
  EXPECT_NE(correlator.observe(note("up", "db"), kRecorded)->name, first->name);
}

TEST(EventCorrelator, combines_the_tenth_similar_event) {
  EventCorrelator correlator;
  for (int i = 0; i < 9; ++i)
    EXPECT_EQ(correlator.observe(note(fmt::format("try {}", i)), kRecorded + i * 1s)->count, 1);
  auto tenth = correlator.observe(note("try 9"), kRecorded + 10s);
  EXPECT_EQ(tenth->message, "(combined from similar events): try 9");
  auto next = correlator.observe(note("try 10"), kRecorded + 11s);
  EXPECT_EQ(next->name, tenth->name);
  EXPECT_EQ(next->count, 2);
  auto much_later = correlator.observe(note("try 11"), kRecorded + 1h);
  EXPECT_EQ(much_later->message, "try 11");
}

TEST(EventCorrelator, each_object_has_a_budget) {
  EventCorrelator correlator;
  int passed = 0;
  for (int i = 0; i < 100; ++i) passed += correlator.observe(note("up"), kRecorded).has_value();
  EXPECT_EQ(passed, 25);
  EXPECT_TRUE(correlator.observe(note("up", "db"), kRecorded));
  EXPECT_FALSE(correlator.observe(note("up"), kRecorded + 299s));
  EXPECT_TRUE(correlator.observe(note("up"), kRecorded + 301s));
  EXPECT_FALSE(correlator.observe(note("up"), kRecorded + 302s));
}

TEST(EventCorrelator, cuts_messages_between_characters) {
  EventCorrelator correlator;
  std::string message(1023, 'x');
  EXPECT_EQ(correlator.observe(note(message + "ü"), kRecorded)->message, message);
  EXPECT_EQ(correlator.observe(note(std::string(5000, 'y')), kRecorded)->message.size(), 1024u);
}

struct RecorderRig {
  explicit RecorderRig(std::size_t queue_size = 1000)
      : client(std::make_shared<testing::ObjectClient>(api, clock, random)),
        recorder(loop.executor(), client, {"plimsoll-test", "n1"}, clock, queue_size) {
    recorder.start();
  }

  ~RecorderRig() { run_to_end(loop, recorder.stop()); }

  Loop loop;
  FakeClock clock;
  SeededRandom random{1};
  testing::ObjectApi api;
  std::shared_ptr<testing::ObjectClient> client;
  EventRecorder recorder;
};

Task<void> flush_for(EventRecorder& recorder, Nanos at_most, bool& ended) {
  co_await recorder.flush(at_most);
  ended = true;
}

TEST(EventRecorder, creates_then_patches) {
  RecorderRig rig;
  rig.recorder.record(note("up"));
  rig.loop.run_ready();
  rig.clock.advance(5s);
  rig.recorder.record(note("up"));
  rig.loop.run_ready();
  ASSERT_EQ(rig.api.objects.size(), 1u);
  const json::value& event = rig.api.objects.begin()->second;
  EXPECT_EQ(int_at(event, {"count"}), 2);
  EXPECT_EQ(text_at(event, {"involvedObject", "name"}), "web");
  EXPECT_EQ(text_at(event, {"metadata", "namespace"}), "shop");
  EXPECT_EQ(text_at(event, {"source", "component"}), "plimsoll-test");
  EXPECT_EQ(text_at(event, {"type"}), "Normal");
  EXPECT_NE(text_at(event, {"firstTimestamp"}), text_at(event, {"lastTimestamp"}));
  EXPECT_EQ(rig.recorder.stats().written, 2u);
}

TEST(EventRecorder, creates_an_event_again_that_the_server_has_expired) {
  RecorderRig rig;
  rig.recorder.record(note("up"));
  rig.loop.run_ready();
  rig.api.objects.clear();
  rig.recorder.record(note("up"));
  rig.loop.run_ready();
  ASSERT_EQ(rig.api.objects.size(), 1u);
  EXPECT_EQ(int_at(rig.api.objects.begin()->second, {"count"}), 2);
}

TEST(EventRecorder, never_blocks_and_counts_what_it_drops) {
  RecorderRig rig(2);
  rig.client->cut_off = true;
  for (int i = 0; i < 5; ++i) rig.recorder.record(note("up", fmt::format("pod-{}", i)));
  EXPECT_EQ(rig.recorder.stats().dropped, 3u);
  rig.loop.run_ready();
  rig.client->cut_off = false;
  while (rig.clock.advance_to_next()) rig.loop.run_ready();
  EXPECT_EQ(rig.recorder.stats().written, 2u);
}

TEST(EventRecorder, flushes_queued_events_within_its_limit) {
  RecorderRig rig;
  for (int i = 0; i < 3; ++i) rig.recorder.record(note("up", fmt::format("pod-{}", i)));
  run_to_end(rig.loop, rig.recorder.flush(2s));
  EXPECT_EQ(rig.recorder.stats().written, 3u);
  rig.client->cut_off = true;
  rig.recorder.record(note("down"));
  bool ended = false;
  TaskGroup tasks(rig.loop.executor());
  tasks.spawn("flush", flush_for(rig.recorder, 2s, ended));
  rig.loop.run_ready();
  for (int i = 0; i < 19; ++i) {
    rig.clock.advance(100ms);
    rig.loop.run_ready();
  }
  EXPECT_FALSE(ended);
  rig.clock.advance(100ms);
  rig.loop.run_ready();
  EXPECT_TRUE(ended);
  EXPECT_EQ(rig.recorder.stats().written, 3u);
}

TEST(EventRecorder, drops_events_that_the_server_rejects) {
  RecorderRig rig;
  rig.client->answer_with = Code::forbidden;
  rig.recorder.record(note("up"));
  rig.loop.run_ready();
  EXPECT_EQ(rig.recorder.stats().dropped, 1u);
  EXPECT_EQ(rig.clock.sleepers(), 0u);
}

}  // namespace
}  // namespace plim::kube
