#include <gtest/gtest.h>

#include "kube/object.hpp"
#include "local/apiserver/testing/api_fixture.hpp"

namespace plim::local::apiserver::testing {
namespace {

namespace res = kube::resources;

class ApiWatchTest : public ApiTest {
 protected:
  std::unique_ptr<kube::Watch> open(kube::WatchOptions options) {
    auto out = run(client->watch(res::pods, std::move(options)));
    PLIM_ASSERT(out);
    return std::move(*out);
  }

  // "ADDED a", "BOOKMARK", "end".
  std::string next(kube::Watch& watch) {
    auto line = run(watch.next());
    PLIM_ASSERT(line);
    if (!*line) return "end";
    last = parsed(**line);
    std::string out(text_at(last, {"type"}));
    const std::string_view name = text_at(last, {"object", "metadata", "name"});
    if (!name.empty()) out += fmt::format(" {}", name);
    return out;
  }

  void create(std::string_view name, std::string_view app = "web") {
    json::value pod = simple_pod(name);
    make_object(pod, {"metadata", "labels"})["app"] = app;
    ASSERT_TRUE(run(client->create(res::pods, {"default", ""}, pod)));
  }

  void relabel(std::string_view name, std::string_view app) {
    auto pod = run(client->get(res::pods, {"default", std::string(name)}));
    make_object(*pod, {"metadata", "labels"})["app"] = app;
    ASSERT_TRUE(run(client->update(res::pods, {"default", std::string(name)}, *pod)));
  }

  void remove(std::string_view name) {
    ASSERT_TRUE(run(client->remove(res::pods, {"default", std::string(name)})));
  }

  json::value last;
};

TEST_F(ApiWatchTest, shows_the_state_and_then_changes) {
  create("a");
  auto watch = open({});
  EXPECT_EQ(next(*watch), "ADDED a");
  EXPECT_EQ(text_at(last, {"object", "kind"}), "Pod");
  EXPECT_EQ(text_at(last, {"object", "apiVersion"}), "v1");
  create("b");
  relabel("a", "db");
  EXPECT_EQ(next(*watch), "ADDED b");
  EXPECT_EQ(next(*watch), "MODIFIED a");
  remove("a");
  EXPECT_EQ(next(*watch), "MODIFIED a");  // terminating, as upstream shows it
  EXPECT_EQ(next(*watch), "DELETED a");
  EXPECT_EQ(text_at(last, {"object", "metadata", "resourceVersion"}),
            std::to_string(store->view().revision()));
}

TEST_F(ApiWatchTest, continues_after_a_revision) {
  create("a");
  const std::string revision = std::to_string(store->view().revision());
  create("b");
  auto watch = open({.ns = "default", .resource_version = revision});
  EXPECT_EQ(next(*watch), "ADDED b");
}

TEST_F(ApiWatchTest, with_a_selector_changes_become_added_and_deleted_events) {
  create("a", "db");
  auto watch = open({.label_selector = "app=web"});
  relabel("a", "web");
  EXPECT_EQ(next(*watch), "ADDED a");
  relabel("a", "db");
  EXPECT_EQ(next(*watch), "DELETED a");
  EXPECT_EQ(text_at(last, {"object", "metadata", "labels", "app"}), "web");
  EXPECT_EQ(text_at(last, {"object", "metadata", "resourceVersion"}),
            std::to_string(store->view().revision()));
}

TEST_F(ApiWatchTest, follows_one_object_by_name) {
  create("a");
  create("b");
  auto watch = open({.ns = "default", .field_selector = "metadata.name=b"});
  EXPECT_EQ(next(*watch), "ADDED b");
  relabel("a", "x");
  relabel("b", "x");
  EXPECT_EQ(next(*watch), "MODIFIED b");
}

TEST_F(ApiWatchTest, sends_a_bookmark_after_the_initial_events) {
  create("a");
  auto watch = open({.send_initial_events = true});
  EXPECT_EQ(next(*watch), "ADDED a");
  EXPECT_EQ(next(*watch), "BOOKMARK");
  EXPECT_EQ(text_at(last, {"object", "metadata", "annotations", "k8s.io/initial-events-end"}),
            "true");
  EXPECT_EQ(text_at(last, {"object", "metadata", "resourceVersion"}),
            std::to_string(store->view().revision()));
  create("b");
  EXPECT_EQ(next(*watch), "ADDED b");
}

TEST_F(ApiWatchTest, pods_of_a_node_come_and_go) {
  auto bind = [&](std::string_view pod, std::string_view node) {
    auto bound = send("POST", fmt::format("/api/v1/namespaces/default/pods/{}/binding", pod),
                      fmt::format(R"({{"target":{{"name":"{}"}}}})", node));
    ASSERT_EQ(bound.status, 201) << bound.body;
  };
  create("a");
  bind("a", "n1");
  create("b");
  auto watch = open({.field_selector = "spec.nodeName=n1"});
  EXPECT_EQ(next(*watch), "ADDED a");
  bind("b", "n1");
  EXPECT_EQ(next(*watch), "ADDED b");
  create("c");
  bind("c", "n2");
  auto other = open({.field_selector = "spec.nodeName=n2"});
  EXPECT_EQ(next(*other), "ADDED c");
  kube::DeleteOptions now{.grace_seconds = 0};
  ASSERT_TRUE(run(client->remove(res::pods, {"default", "a"}, now)));
  EXPECT_EQ(next(*watch), "MODIFIED a");
  EXPECT_EQ(next(*watch), "DELETED a");
  auto again = open({.field_selector = "spec.nodeName=n1"});
  EXPECT_EQ(next(*again), "ADDED b");
}

TEST_F(ApiWatchTest, a_revision_that_is_too_old_is_an_event) {
  for (int i = 0; i < 1'200; ++i) create(fmt::format("p{}", i));
  clock.advance(std::chrono::minutes(6));
  for (int i = 0; i < 20; ++i) create(fmt::format("q{}", i));
  auto watch = open({.resource_version = "1"});
  EXPECT_EQ(next(*watch), "ERROR");
  EXPECT_EQ(int_at(last, {"object", "code"}), 410);
  EXPECT_EQ(text_at(last, {"object", "reason"}), "Expired");
  EXPECT_EQ(next(*watch), "end");
}

TEST_F(ApiWatchTest, tables_in_watches_contain_their_columns_once) {
  create("a");
  net::Request request;
  request.path = "/api/v1/pods";
  request.query = "watch=true";
  request.headers.set("Accept", "application/json;as=Table;v=v1;g=meta.k8s.io,application/json");
  auto stream = run(client->raw_stream(std::move(request)));
  ASSERT_TRUE(stream);
  auto line = [&] {
    auto piece = run((*stream)->next());
    PLIM_ASSERT(piece && *piece);
    return parsed(**piece);
  };
  const json::value first = line();
  EXPECT_EQ(text_at(first, {"type"}), "ADDED");
  EXPECT_EQ(text_at(first, {"object", "kind"}), "Table");
  EXPECT_TRUE(first.at("object").at("columnDefinitions").is_array());
  create("b");
  const json::value second = line();
  EXPECT_EQ(second.at("object").at("rows").at(0).at("cells").at(0), "b");
  EXPECT_TRUE(second.at("object").at("columnDefinitions").is_null());
}

// A connection whose peer does not read.
class StuckSink final : public net::Sink {
 public:
  bool push(net::Piece) override { return ++pieces, true; }

  std::size_t queued() override { return pieces; }

  void finish() override { finished = true; }

  void abort() override { aborted = true; }

  void on_gone(std::function<void()>) override {}

  std::size_t pieces = 0;
  bool finished = false;
  bool aborted = false;
};

TEST_F(ApiWatchTest, a_watch_whose_reader_is_stuck_is_aborted) {
  net::Request request;
  request.path = "/api/v1/pods";
  request.query = "watch=true";
  request.peer.certificate_user = "admin";
  net::Reply reply = run(server->handle(std::move(request)));
  auto sink = std::make_shared<StuckSink>();
  std::get<net::Streamed>(reply).attach(sink);
  for (int i = 0; i < 100; ++i) create(fmt::format("p{}", i));
  loop.run_ready();
  EXPECT_GT(sink->pieces, 64u);
  EXPECT_FALSE(sink->aborted);
  for (int i = 0; i < 300; ++i) {
    clock.advance(std::chrono::milliseconds(20));
    loop.run_ready();
  }
  EXPECT_TRUE(sink->aborted);
  EXPECT_FALSE(sink->finished);  // finishing would wait for the queued data
}

// A connection whose peer may leave.
class LeavingSink final : public net::Sink {
 public:
  bool push(net::Piece) override { return true; }

  std::size_t queued() override { return 0; }

  void finish() override {}

  void abort() override {}

  void on_gone(std::function<void()> callback) override { leave = std::move(callback); }

  std::function<void()> leave;
};

TEST(ApiWatchLimit, one_too_many_is_rejected_until_another_ends) {
  ApiFixture api(ApiOptions{.max_watches = 20});
  auto open = [&] {
    net::Request request;
    request.path = "/api/v1/pods";
    request.query = "watch=true";
    request.peer.certificate_user = "admin";
    request.peer.certificate_groups = {"system:masters"};
    return api.run(api.server->handle(std::move(request)));
  };
  std::vector<std::shared_ptr<LeavingSink>> readers;
  for (int i = 0; i < 20; ++i) {
    net::Reply reply = open();
    ASSERT_TRUE(std::holds_alternative<net::Streamed>(reply)) << i;
    readers.push_back(std::make_shared<LeavingSink>());
    std::get<net::Streamed>(reply).attach(readers.back());
  }
  net::Reply refused = open();
  ASSERT_TRUE(std::holds_alternative<net::Response>(refused));
  const net::Response& answer = std::get<net::Response>(refused);
  EXPECT_EQ(answer.status, 429);
  EXPECT_EQ(answer.headers.get("Retry-After"), "1");
  EXPECT_EQ(text_at(parsed(answer.body), {"reason"}), "TooManyRequests");
  readers.front()->leave();
  api.loop.run_ready();
  EXPECT_TRUE(std::holds_alternative<net::Streamed>(open()));
}

TEST_F(ApiWatchTest, sends_bookmarks_and_ends_in_time) {
  auto watch = open({.timeout = std::chrono::seconds(100)});
  TaskGroup time(loop.executor());
  auto fly = [](FakeClock& fake) -> Task<void> {
    for (;;) {
      fake.advance_to_next();
      co_await yield_to_loop();
    }
  };
  const SteadyTime start = clock.steady();
  time.spawn("time", fly(clock));
  EXPECT_EQ(next(*watch), "BOOKMARK");
  EXPECT_EQ(clock.steady() - start, std::chrono::seconds(60));
  EXPECT_EQ(next(*watch), "BOOKMARK");
  EXPECT_EQ(clock.steady() - start, std::chrono::seconds(98));
  EXPECT_EQ(next(*watch), "end");
  EXPECT_EQ(clock.steady() - start, std::chrono::seconds(100));
  run_to_end(loop, time.stop());
}

}  // namespace
}  // namespace plim::local::apiserver::testing
