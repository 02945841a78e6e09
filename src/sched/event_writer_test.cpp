#include "sched/event_writer.hpp"

#include <vector>

#include <gtest/gtest.h>

#include "base/event.hpp"
#include "base/json.hpp"
#include "base/loop.hpp"
#include "kube/paths.hpp"
#include "kube/testing/stub_client.hpp"

namespace plim::sched {
namespace {

using namespace std::chrono_literals;

// Answers requests when it is told to.
class EventApi : public plim::testing::StubClient {
 public:
  explicit EventApi(const Executor& loop) : open_(loop) {}

  Answer<net::Response> raw(net::Request request, net::CallOptions) override {
    return take(std::move(request));
  }

  Task<std::vector<Result<net::Response>>> raw_pipelined(std::vector<net::Request> all,
                                                         net::CallOptions options) override {
    batches.push_back(all.size());
    if (together.empty()) return StubClient::raw_pipelined(std::move(all), options);
    return answer_together(all.size());
  }

  void let_through() {
    is_open_ = true;
    open_.notify();
  }

  std::vector<net::Request> requests;  // those sent one by one
  int status = 201;
  std::vector<std::size_t> batches;
  std::vector<int> together;  // answers to a batch; 0: lost, like all that follow the last one

 private:
  Task<std::vector<Result<net::Response>>> answer_together(std::size_t count) {
    std::vector<Result<net::Response>> answers;
    for (const int code : together) {
      if (code == 0)
        answers.push_back(fail(Code::unavailable, "lost"));
      else
        answers.push_back(answer_with(code));
    }
    answers.resize(count, fail(Code::unavailable, "lost"));
    co_return answers;
  }

  static net::Response answer_with(int status) {
    net::Response answer;
    answer.status = status;
    if (status == 409) answer.body = R"({"kind":"Status","code":409,"reason":"AlreadyExists"})";
    return answer;
  }

  Answer<net::Response> take(net::Request request) {
    requests.push_back(std::move(request));
    while (!is_open_) co_await open_.wait();
    co_return answer_with(status);
  }

  Event open_;
  bool is_open_ = false;
};

class EventWriterTest : public ::testing::Test {
 protected:
  EventWriterTest() { events_.start(); }

  void TearDown() override { run_to_end(loop_, events_.stop()); }

  void record(const std::string& name, bool warning = false, std::string note = "a \"note\"") {
    SchedulerEvent event{.regarding = {.api_version = "v1",
                                       .kind = "Pod",
                                       .ns = "team",
                                       .name = name,
                                       .uid = name + "-uid",
                                       .resource_version = "7"},
                         .controller = "default-scheduler",
                         .warning = warning,
                         .reason = "Scheduled",
                         .action = "Binding",
                         .note = std::move(note)};
    events_.record(std::move(event));
    loop_.run_ready();
  }

  void record_once(std::string name, std::string uid) {
    SchedulerEvent event{.regarding = {.api_version = "v1",
                                       .kind = "Pod",
                                       .ns = "team",
                                       .name = std::move(name),
                                       .uid = std::move(uid)},
                         .controller = "default-scheduler",
                         .reason = "Scheduled",
                         .action = "Binding",
                         .note = "bound",
                         .once = true};
    events_.record(std::move(event));
    loop_.run_ready();
  }

  std::string name_written(std::size_t at) {
    auto body = parse_json(api_->requests.at(at).body);
    return body ? std::string(kube::text_at(*body, "EventsEvent.metadata.name")) : "";
  }

  Loop loop_;
  FakeClock clock_;
  std::shared_ptr<EventApi> api_ = std::make_shared<EventApi>(loop_.executor());
  EventWriter events_{loop_.executor(), api_, "host", clock_};
};

TEST_F(EventWriterTest, writes_an_event_about_a_pod) {
  api_->let_through();
  record("web");
  ASSERT_EQ(api_->requests.size(), 1u);
  const net::Request& request = api_->requests[0];
  EXPECT_EQ(request.method, "POST");
  EXPECT_EQ(request.path, "/apis/events.k8s.io/v1/namespaces/team/events");
  auto body = parse_json(request.body);
  ASSERT_TRUE(body) << body.error().message;
  EXPECT_EQ(kube::text_at(*body, "EventsEvent.kind"), "Event");
  EXPECT_EQ(kube::text_at(*body, "EventsEvent.metadata.namespace"), "team");
  EXPECT_TRUE(kube::text_at(*body, "EventsEvent.metadata.name").starts_with("web."));
  EXPECT_EQ(kube::text_at(*body, "EventsEvent.note"), "a \"note\"");
  EXPECT_EQ(kube::text_at(*body, "EventsEvent.type"), "Normal");
  EXPECT_EQ(kube::text_at(*body, "EventsEvent.reason"), "Scheduled");
  EXPECT_EQ(kube::text_at(*body, "EventsEvent.action"), "Binding");
  EXPECT_EQ(kube::text_at(*body, "EventsEvent.reportingController"), "default-scheduler");
  EXPECT_EQ(kube::text_at(*body, "EventsEvent.reportingInstance"), "default-scheduler-host");
  EXPECT_EQ(kube::text_at(*body, "EventsEvent.regarding.uid"), "web-uid");
  EXPECT_EQ(kube::text_at(*body, "EventsEvent.regarding.resourceVersion"), "7");
  EXPECT_EQ(events_.stats().written, 1u);
}

TEST_F(EventWriterTest, writes_two_at_a_time_and_more_when_they_are_late) {
  for (int i = 0; i < 20; ++i) record("web");
  EXPECT_EQ(api_->requests.size(), 2u);
  clock_.advance(6s);
  for (int i = 0; i < 20; ++i) record("web");
  EXPECT_EQ(api_->requests.size(), 4u);  // the two new writers hold several events
  api_->let_through();
  loop_.run_ready();
  EXPECT_EQ(events_.stats().written, 40u);
}

TEST_F(EventWriterTest, an_event_that_exists_once_has_a_name_made_from_the_uid) {
  api_->let_through();
  record_once("web", "0b8a7e54-6f0c-4d5e-9a55-1b2c3d4e5f60");
  clock_.advance(1h);
  record_once("web", "0b8a7e54-6f0c-4d5e-9a55-1b2c3d4e5f60");
  record_once("web", "another");
  ASSERT_EQ(api_->requests.size(), 3u);
  EXPECT_EQ(name_written(0), "web.ad250f95dce6f421");
  EXPECT_EQ(name_written(1), name_written(0));
  EXPECT_NE(name_written(2), name_written(0));
  const std::string longest(253, 'a');
  record_once(longest, "0b8a7e54-6f0c-4d5e-9a55-1b2c3d4e5f60");
  EXPECT_EQ(name_written(3), "0b8a7e54-6f0c-4d5e-9a55-1b2c3d4e5f60");
}

TEST_F(EventWriterTest, an_event_that_another_process_wrote_counts_as_written) {
  api_->let_through();
  api_->status = 409;
  record_once("web", "uid");
  EXPECT_EQ(api_->requests.size(), 1u);
  EXPECT_EQ(events_.stats().written, 1u);
  EXPECT_EQ(events_.stats().dropped, 0u);
}

TEST_F(EventWriterTest, placements_pass_warnings_and_get_more_writers) {
  for (int i = 0; i < 500; ++i) record("late", true, "note " + std::to_string(i));
  EXPECT_EQ(api_->requests.size(), 2u);
  for (int i = 0; i < 200; ++i) record_once("web", "uid" + std::to_string(i));
  EXPECT_EQ(api_->requests.size(), 7u);
  for (std::size_t i = 2; i < 7; ++i) EXPECT_TRUE(name_written(i).starts_with("web."));
  api_->let_through();
  loop_.run_ready();
  ASSERT_EQ(api_->requests.size(), 700u);
  // Five writers hold 16 placements each. The first writer continues with the other 120.
  for (std::size_t i = 7; i < 7 + 120; ++i) EXPECT_TRUE(name_written(i).starts_with("web.")) << i;
}

TEST_F(EventWriterTest, sends_queued_events_together_and_repeats_what_got_lost) {
  for (int i = 0; i < 2 + 16; ++i) record_once("web", "uid" + std::to_string(i));
  api_->together = {201, 409, 0, 500};
  api_->let_through();
  loop_.run_ready();
  EXPECT_EQ(api_->batches, std::vector<std::size_t>{16});
  EXPECT_EQ(api_->requests.size(), 2u + 14u);  // without the first two of the batch
  EXPECT_EQ(events_.stats().written, 18u);
  EXPECT_EQ(events_.stats().dropped, 0u);
}

TEST_F(EventWriterTest, makes_a_series_of_a_warning_that_is_repeated) {
  api_->let_through();
  for (int i = 0; i < 3; ++i) record("web", true);
  ASSERT_EQ(api_->requests.size(), 2u);
  EXPECT_EQ(api_->requests[1].method, "PATCH");
  auto body = parse_json(api_->requests[1].body);
  ASSERT_TRUE(body) << body.error().message;
  EXPECT_EQ(kube::int_at(*body, "EventsEvent.series.count"), 2);
  EXPECT_FALSE(kube::text_at(*body, "EventsEvent.series.lastObservedTime").empty());
}

TEST_F(EventWriterTest, a_warning_with_another_note_is_a_new_event) {
  api_->let_through();
  for (const char* note : {"no cpu", "no cpu", "a taint", "no cpu"}) record("web", true, note);
  std::vector<std::string> written;
  for (const net::Request& request : api_->requests) {
    auto body = parse_json(request.body);
    ASSERT_TRUE(body) << body.error().message;
    written.push_back(request.method + " " + std::string(kube::text_at(*body, "EventsEvent.note")));
  }
  EXPECT_EQ(written, (std::vector<std::string>{"POST no cpu", "PATCH ", "POST a taint"}));
}

TEST_F(EventWriterTest, writes_what_is_queued_before_it_stops) {
  for (int i = 0; i < 5; ++i) record("web");
  api_->let_through();
  run_to_end(loop_, events_.stop(1s));
  EXPECT_EQ(events_.stats().written, 5u);
  EXPECT_EQ(events_.stats().dropped, 0u);
}

TEST_F(EventWriterTest, counts_what_it_cannot_write_before_it_stops) {
  for (int i = 0; i < 20; ++i) record("web");
  bool stopped = false;
  TaskGroup tasks(loop_.executor());
  auto stop = [](EventWriter* events, bool* done) -> Task<void> {
    co_await events->stop(10s);
    *done = true;
  };
  tasks.spawn("stop", stop(&events_, &stopped));
  loop_.run_ready();
  EXPECT_EQ(api_->requests.size(), 4u);  // all are sent: 1 + 1 + 16 + 2
  EXPECT_FALSE(stopped);
  clock_.advance(1s);  // the server accepts nothing
  loop_.run_ready();
  EXPECT_TRUE(stopped);
  EXPECT_EQ(events_.stats().dropped, 20u);
  run_to_end(loop_, tasks.stop());
}

TEST_F(EventWriterTest, reports_the_leader_as_kube_scheduler_does) {
  api_->let_through();
  events_.record_election({.api_version = "coordination.k8s.io/v1",
                           .kind = "Lease",
                           .ns = "kube-system",
                           .name = "kube-scheduler",
                           .uid = "u"},
                          "default-scheduler", "me became leader");
  loop_.run_ready();
  ASSERT_EQ(api_->requests.size(), 1u);
  EXPECT_EQ(api_->requests[0].path, "/api/v1/namespaces/kube-system/events");
  auto body = parse_json(api_->requests[0].body);
  ASSERT_TRUE(body) << body.error().message;
  EXPECT_EQ(kube::text_at(*body, "CoreEvent.reason"), "LeaderElection");
  EXPECT_EQ(kube::text_at(*body, "CoreEvent.message"), "me became leader");
  EXPECT_EQ(kube::text_at(*body, "CoreEvent.involvedObject.kind"), "Lease");
  EXPECT_EQ(kube::text_at(*body, "CoreEvent.source.component"), "default-scheduler");
}

}  // namespace
}  // namespace plim::sched
