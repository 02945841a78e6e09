#include "images/daemon.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/base64.hpp"
#include "base/loop.hpp"
#include "base/rfc3339.hpp"
#include "base/testing/temp_dir.hpp"
#include "images/testing/fake_runtime.hpp"
#include "kube/testing/object_api.hpp"

namespace plim::images {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

class ImagesDaemonTest : public ::testing::Test {
 protected:
  ImagesDaemonTest() {
    runtime_.images = {{.id = "sha256:x", .tags = {"busybox"}, .digests = {}, .size = 771000}};
  }

  void TearDown() override {
    run_to_end(loop_, daemon_->stop());
    run_to_end(loop_, runtime_.stop());
  }

  void start() {
    auto client = std::make_shared<plim::testing::ObjectClient>(api_, clock_, random_);
    client_ = client.get();
    std::vector<std::unique_ptr<Publisher>> publishers;
    publishers.push_back(publish_to_resource(std::move(client), "n1"));
    DaemonOptions options{.node_name = "n1", .socket = dir_ / "cri.sock"};
    daemon_ = std::make_unique<Daemon>(loop_.executor(), std::move(options), std::move(publishers),
                                       registry_, clock_, random_);
    daemon_->start();
  }

  template <class Condition>
  void until(Condition condition) {
    auto wait = [](Condition& is_met) -> Task<void> {
      while (!is_met()) co_await yield_to_loop();
    };
    run_to_end(loop_, wait(condition));
  }

  // Advances the clock by this much and runs everything that wakes up.
  void pass(Nanos time) {
    const SteadyTime end = clock_.steady() + time;
    while (clock_.steady() < end) {
      const int asked = runtime_.asked["ListImages"];
      clock_.advance(std::min<Nanos>(20s, end - clock_.steady()));
      until([&] { return runtime_.asked["ListImages"] > asked && clock_.sleepers() >= 2; });
    }
  }

  json::value spec() {
    const json::value* found = find(api_.objects["n1"], {"spec"});
    return found ? *found : json::value();
  }

  double up() { return registry_.gauge("plimsoll_images_runtime_up", "").value(); }

  plim::testing::TempDir dir_;
  Loop loop_;
  FakeClock clock_;
  SeededRandom random_{7};
  metrics::Registry registry_;
  testing::FakeRuntime runtime_{loop_.executor(), dir_ / "cri.sock"};
  plim::testing::ObjectApi api_;
  plim::testing::ObjectClient* client_ = nullptr;
  std::unique_ptr<Daemon> daemon_;
};

TEST_F(ImagesDaemonTest, publishes_the_images_of_the_runtime_and_becomes_ready) {
  start();
  EXPECT_THAT(daemon_->not_ready(), HasSubstr("has not answered"));
  runtime_.start();
  until([&] {
    clock_.advance_to_next();
    return daemon_->not_ready().empty();
  });
  const json::value told = spec();
  EXPECT_EQ(text_at(told, {"runtime"}), "containerd://1.7.28");
  EXPECT_EQ(int_at(told, {"generation"}), 1);
  EXPECT_EQ(int_at(told, {"fs", "usedBytes"}), 4096);
  EXPECT_EQ(int_at(find(told, {"images"})->as_array().at(0), {"size"}), 771000);
  EXPECT_EQ(up(), 1);
}

TEST_F(ImagesDaemonTest, writes_nothing_while_nothing_changes_and_resends_after_eight_minutes) {
  runtime_.start();
  start();
  until([&] { return api_.writes == 1 && clock_.sleepers() >= 2; });
  pass(5min);
  EXPECT_EQ(api_.writes, 1);
  const int looks = runtime_.asked["ListImages"];
  EXPECT_GE(looks, 14);
  pass(4min);
  until([&] { return api_.writes == 2; });
  runtime_.images.push_back({.id = "sha256:y", .tags = {"y"}, .digests = {}, .size = 1});
  pass(20s);
  until([&] { return api_.writes == 3; });
  EXPECT_EQ(int_at(spec(), {"generation"}), 2);
}

TEST_F(ImagesDaemonTest, looks_soon_after_an_event_of_the_runtime_and_not_more_often) {
  runtime_.start();
  start();
  until([&] {
    return api_.writes == 1 && clock_.sleepers() >= 2 && runtime_.asked["Subscribe"] == 1;
  });
  clock_.advance(2s);  // the publisher may write again
  runtime_.images.push_back({.id = "sha256:y", .tags = {"y"}, .digests = {}, .size = 1});
  const int looks = runtime_.asked["ListImages"];
  runtime_.report_change();
  runtime_.report_change();
  until([&] {
    clock_.advance(50ms);
    return api_.writes == 2;
  });
  EXPECT_EQ(int_at(spec(), {"generation"}), 2);
  EXPECT_EQ(runtime_.asked["ListImages"], looks + 1);
}

TEST_F(ImagesDaemonTest, subscribes_again_after_a_restart_of_the_runtime) {
  runtime_.start();
  start();
  until([&] { return api_.writes == 1 && runtime_.asked["Subscribe"] == 1; });
  run_to_end(loop_, runtime_.stop());
  runtime_.start();
  until([&] {
    clock_.advance_to_next();
    return runtime_.asked["Subscribe"] == 2;
  });
}

TEST_F(ImagesDaemonTest, continues_after_the_runtime_was_unavailable) {
  runtime_.start();
  start();
  until([&] { return api_.writes == 1 && clock_.sleepers() >= 2; });
  run_to_end(loop_, runtime_.stop());
  until([&] {
    clock_.advance_to_next();
    return up() == 0;
  });
  EXPECT_TRUE(daemon_->not_ready().empty());
  runtime_.images.clear();
  runtime_.start();
  until([&] {
    clock_.advance_to_next();
    return api_.writes == 2;
  });
  const json::value told = spec();
  EXPECT_TRUE(find(told, {"images"})->as_array().empty());
}

// Readers must see how old the inventory of a dead runtime is.
TEST_F(ImagesDaemonTest, resends_no_inventory_while_the_runtime_is_away) {
  runtime_.start();
  start();
  until([&] { return api_.writes == 1 && clock_.sleepers() >= 2; });
  const WallTime reported = clock_.wall();
  run_to_end(loop_, runtime_.stop());
  until([&] {
    clock_.advance_to_next();
    return up() == 0;
  });
  for (int i = 0; i < 180; ++i) {
    clock_.advance(10s);
    loop_.run_ready();
  }
  ASSERT_EQ(api_.writes, 1);
  EXPECT_EQ(text_at(spec(), {"reportedAt"}), format_rfc3339(reported));
  runtime_.start();
  until([&] {
    clock_.advance_to_next();
    return api_.writes == 2;
  });
}

TEST_F(ImagesDaemonTest, retries_when_the_server_rejects_the_inventory) {
  runtime_.start();
  start();
  client_->answer_with = Code::unavailable;
  const auto& failed =
      registry_.counter("plimsoll_images_reports_total", "", {{"result", "failure"}});
  until([&] {
    clock_.advance_to_next();
    return failed.value() >= 2;
  });
  EXPECT_THAT(daemon_->not_ready(), HasSubstr("nothing has been published"));
  client_->answer_with = Code::unknown;
  until([&] {
    clock_.advance_to_next();
    return api_.writes == 1;
  });
}

TEST(AnnotationPublisher, refreshes_its_time_and_ignores_changes_of_pulls_and_layers) {
  Loop loop;
  FakeClock clock;
  SeededRandom random(1);
  plim::testing::ObjectApi api;
  api.objects["n1"] = json::object{};
  auto publisher = publish_to_annotation(
      std::make_shared<plim::testing::ObjectClient>(api, clock, random), "n1");
  loop::ImageInventory inventory;
  inventory.images = {{.id = "sha256:1", .size = 5, .names = {"docker.io/library/x:1"}}};
  const auto publish = [&] {
    inventory.reported_at = clock.wall();
    EXPECT_TRUE(run_to_end(loop, publisher->publish(inventory)));
    return api.writes;
  };
  EXPECT_EQ(publish(), 1);
  const json::value& node = api.objects["n1"];
  EXPECT_EQ(text_at(node, {"metadata", "annotations", "plimsoll.io/images-at"}),
            format_rfc3339(clock.wall()));
  inventory.pulling = {{"sha256:2", 1, 2}};
  clock.advance(1min);
  EXPECT_EQ(publish(), 1);
  clock.advance(7min);  // it is resent after eight
  EXPECT_EQ(publish(), 2);
  EXPECT_EQ(text_at(node, {"metadata", "annotations", "plimsoll.io/images-at"}),
            format_rfc3339(clock.wall()));
  inventory.images.clear();
  clock.advance(1min);
  EXPECT_EQ(publish(), 3);
}

TEST(AnnotationPublisher, corrects_its_time_after_the_clock_was_set_back) {
  Loop loop;
  FakeClock clock;
  SeededRandom random(1);
  plim::testing::ObjectApi api;
  api.objects["n1"] = json::object{};
  auto publisher = publish_to_annotation(
      std::make_shared<plim::testing::ObjectClient>(api, clock, random), "n1");
  loop::ImageInventory inventory;
  inventory.reported_at = clock.wall() + 3h;
  EXPECT_TRUE(run_to_end(loop, publisher->publish(inventory)));
  inventory.reported_at = clock.wall();
  EXPECT_TRUE(run_to_end(loop, publisher->publish(inventory)));
  EXPECT_EQ(text_at(api.objects["n1"], {"metadata", "annotations", "plimsoll.io/images-at"}),
            format_rfc3339(clock.wall()));
}

TEST(NodeInToken, is_read_without_a_request) {
  const auto token = [](std::string_view claims) {
    std::string body = base64_encode(claims);
    std::erase(body, '=');
    return "e30." + body + ".sig";
  };
  const std::string bound = token(R"({"kubernetes.io":{"node":{"name":"n1","uid":"u-1"}}})");
  EXPECT_EQ(node_uid_in_token(bound, "n1"), "u-1");
  EXPECT_EQ(node_uid_in_token(bound, "n2"), "");
  for (const char* odd : {"", "a.b", "a.%%.c", "..", "a.e30.c"})
    EXPECT_EQ(node_uid_in_token(odd, "n1"), "") << odd;
}

}  // namespace
}  // namespace plim::images
