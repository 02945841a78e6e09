#include "local/cluster/mirror_pods.hpp"

#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/testing/temp_dir.hpp"
#include "local/apiserver/testing/api_fixture.hpp"

namespace plim::local::cluster {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class MirrorPodsTest : public apiserver::testing::ApiTest {
 protected:
  MirrorPodsTest() {
    make_node();
    mirrors_.on_delete([this](const std::string& key) { deleted_.push_back(key); });
    mirrors_.start();
    settle();
  }

  ~MirrorPodsTest() override { run_to_end(loop, mirrors_.stop()); }

  void settle() {
    for (int i = 0; i < 100; ++i) loop.run_ready();
  }

  void pass(Nanos duration) {
    clock.advance(duration);
    settle();
  }

  void make_node() {
    json::object ready{{"type", "Ready"}, {"status", "True"}};
    json::value node = json::object{{"metadata", {{"name", "n1"}}},
                                    {"status", {{"conditions", json::array{ready}}}}};
    auto made = run(client->create(kube::resources::nodes, {"", ""}, node));
    ASSERT_TRUE(made) << made.error().message;
  }

  MirrorPod scheduler(std::string name = "kube-scheduler-n1") {
    return {.name = std::move(name),
            .node = "n1",
            .address = "127.32.1.1",
            .container = "kube-scheduler",
            .tier = "control-plane",
            .command = {"plimsoll", "scheduler", "--v", "10"},
            .log = temp_ / "log"};
  }

  void begin() {
    mirrors_.begins("scheduler", scheduler());
    settle();
  }

  json::value pod(std::string name = "kube-scheduler-n1") {
    auto found = run(client->get(kube::resources::pods, {"kube-system", std::move(name)}));
    return found ? *found : json::value();
  }

  json::value status() { return pod().at("status").at("containerStatuses").at(0); }

  void log(std::string_view text) { std::ofstream(temp_ / "log", std::ios::app) << text; }

  std::string logged(kubelet::LogOptions options = {}) {
    std::string out;
    auto done = run(mirrors_.read_log("kube-scheduler-n1", options, [&](std::string piece) {
      out += piece;
      return true;
    }));
    return done ? out : done.error().message;
  }

  plim::testing::TempDir temp_;
  std::vector<std::string> deleted_;
  MirrorPods mirrors_{loop.executor(), clock, client, {.name = "plimsoll:1", .id = "plimsoll@x"}};
};

TEST_F(MirrorPodsTest, shows_a_process_as_a_pod_of_its_node) {
  begin();
  const json::value shown = pod();
  ASSERT_TRUE(shown.is_object());
  EXPECT_EQ(text_at(shown, {"spec", "nodeName"}), "n1");
  EXPECT_EQ(to_json(shown.at("spec").at("containers").at(0).at("command")),
            R"(["plimsoll","scheduler","--v","10"])");
  EXPECT_FALSE(kube::annotation_of(shown, kMirrorAnnotation).empty());
  const auto owner = kube::controller_of(shown);
  ASSERT_TRUE(owner);
  EXPECT_EQ(owner->kind, "Node");
  EXPECT_EQ(text_at(shown, {"status", "phase"}), "Running");
  EXPECT_EQ(text_at(shown, {"status", "podIP"}), "127.32.1.1");
  EXPECT_EQ(text_at(shown, {"status", "qosClass"}), "BestEffort") << "it has no requests";
  EXPECT_TRUE(bool_at(status(), {"ready"}));
  EXPECT_FALSE(text_at(status(), {"state", "running", "startedAt"}).empty());
  EXPECT_EQ(shown.at("spec").as_object().if_contains("volumes"), nullptr);
}

TEST_F(MirrorPodsTest, reports_how_the_process_ended_and_its_restarts) {
  begin();
  mirrors_.has_ended("scheduler", 0, 9, 1s);
  settle();
  EXPECT_EQ(text_at(status(), {"state", "waiting", "reason"}), "CrashLoopBackOff");
  EXPECT_EQ(int_at(status(), {"lastState", "terminated", "exitCode"}), 137);
  EXPECT_FALSE(bool_at(status(), {"ready"}));
  begin();
  EXPECT_EQ(int_at(status(), {"restartCount"}), 1);
  EXPECT_EQ(text_at(status(), {"lastState", "terminated", "reason"}), "Error");
  EXPECT_TRUE(bool_at(status(), {"ready"}));
  mirrors_.cannot_begin("scheduler", "no such file", 2s);
  settle();
  EXPECT_EQ(text_at(status(), {"lastState", "terminated", "message"}), "no such file");
  EXPECT_THAT(deleted_, IsEmpty());
}

TEST_F(MirrorPodsTest, restarts_the_process_when_its_pod_is_deleted) {
  begin();
  const std::string uid(kube::uid_of(pod()));
  ASSERT_TRUE(run(client->remove(kube::resources::pods, {"kube-system", "kube-scheduler-n1"})));
  settle();
  EXPECT_THAT(deleted_, ElementsAre("scheduler"));
  EXPECT_EQ(kube::uid_of(pod()), uid) << "it exists as long as the process";
  mirrors_.has_ended("scheduler", 0, 0, 0s);
  mirrors_.renew("scheduler");
  settle();
  EXPECT_TRUE(pod().is_null());
  begin();
  EXPECT_NE(kube::uid_of(pod()), uid);
  EXPECT_EQ(int_at(status(), {"restartCount"}), 0);
  EXPECT_THAT(deleted_, ElementsAre("scheduler")) << "once";

  kube::DeleteOptions at_once;
  at_once.grace_seconds = 0;
  ASSERT_TRUE(
      run(client->remove(kube::resources::pods, {"kube-system", "kube-scheduler-n1"}, at_once)));
  settle();
  EXPECT_THAT(deleted_, ElementsAre("scheduler", "scheduler"));
}

TEST_F(MirrorPodsTest, restarts_nothing_when_the_node_is_deleted) {
  begin();
  ASSERT_TRUE(run(client->remove(kube::resources::nodes, {"", "n1"})));
  kube::DeleteOptions at_once;
  at_once.grace_seconds = 0;
  ASSERT_TRUE(
      run(client->remove(kube::resources::pods, {"kube-system", "kube-scheduler-n1"}, at_once)));
  pass(2s);
  EXPECT_TRUE(pod().is_null());
  make_node();
  pass(2s);
  EXPECT_FALSE(pod().is_null()) << "it comes back with its node";
  EXPECT_THAT(deleted_, IsEmpty());
}

TEST_F(MirrorPodsTest, deletes_the_pod_of_a_deleted_node_at_once) {
  begin();
  ASSERT_TRUE(run(client->remove(kube::resources::nodes, {"", "n1"})));
  ASSERT_TRUE(run(client->remove(kube::resources::pods, {"kube-system", "kube-scheduler-n1"})));
  settle();
  EXPECT_TRUE(pod().is_null()) << "no kubelet is left to end its grace period";
  make_node();
  pass(2s);
  EXPECT_EQ(text_at(pod(), {"status", "phase"}), "Running");
  EXPECT_THAT(deleted_, IsEmpty());
}

TEST_F(MirrorPodsTest, leaves_the_status_alone_while_its_node_is_not_ready) {
  begin();
  const auto set_ready = [&](std::string_view ready) {
    json::value patch = apiserver::testing::parsed(
        fmt::format(R"({{"status":{{"conditions":[{{"type":"Ready","status":"{}"}}]}}}})", ready));
    ASSERT_TRUE(run(client->patch(kube::resources::nodes, {"", "n1", "status"},
                                  kube::PatchType::merge, patch)));
  };
  const auto is_ready = [&] {
    const json::value now = pod();
    for (const json::value& one : now.at("status").at("conditions").as_array())
      if (text_at(one, {"type"}) == "Ready") return std::string(text_at(one, {"status"}));
    return std::string("none");
  };
  set_ready("Unknown");
  json::value patch = apiserver::testing::parsed(
      R"({"status":{"conditions":[{"type":"Ready","status":"False"}]}})");
  ASSERT_TRUE(
      run(client->patch(kube::resources::pods, {"kube-system", "kube-scheduler-n1", "status"},
                        kube::PatchType::strategic, patch)));
  pass(2s);
  EXPECT_EQ(is_ready(), "False");
  set_ready("True");
  pass(2s);
  EXPECT_EQ(is_ready(), "True");
}

TEST_F(MirrorPodsTest, removes_pods_without_a_process) {
  json::value stray = make_mirror_pod(scheduler("stray"), "x", "", clock.wall());
  make_object(stray, {"metadata"}).erase("ownerReferences");
  ASSERT_TRUE(run(client->create(kube::resources::pods, {"kube-system", ""}, stray)));
  json::value usual = apiserver::testing::simple_pod("usual", "kube-system");
  ASSERT_TRUE(run(client->create(kube::resources::pods, {"kube-system", ""}, usual)));
  settle();
  EXPECT_TRUE(pod("stray").is_null());
  EXPECT_FALSE(pod("usual").is_null());
  begin();
  mirrors_.withdraw("scheduler");
  settle();
  EXPECT_TRUE(pod().is_null());
}

TEST_F(MirrorPodsTest, replaces_a_pod_that_an_earlier_cluster_left) {
  json::value left = make_mirror_pod(scheduler(), "x", "", clock.wall());
  make_object(left, {"metadata"}).erase("ownerReferences");
  mirrors_.begins("scheduler", scheduler());
  auto made = run(client->create(kube::resources::pods, {"kube-system", ""}, left));
  settle();
  pass(2s);
  EXPECT_EQ(text_at(pod(), {"status", "phase"}), "Running");
  EXPECT_TRUE(kube::controller_of(pod()));
}

TEST_F(MirrorPodsTest, moves_to_another_node_when_its_node_is_removed) {
  begin();
  mirrors_.has_ended("scheduler", 1, 0, 1s);
  begin();
  mirrors_.move("scheduler", scheduler("kube-scheduler-n2"));
  settle();
  EXPECT_TRUE(pod().is_null());
  EXPECT_EQ(
      int_at(pod("kube-scheduler-n2").at("status").at("containerStatuses").at(0), {"restartCount"}),
      1);
  EXPECT_THAT(deleted_, IsEmpty());
}

TEST_F(MirrorPodsTest, reads_the_log_of_this_run_and_of_the_one_before) {
  log("of an earlier cluster\n");
  begin();
  log("first\n");
  EXPECT_TRUE(mirrors_.has("kube-system", "kube-scheduler-n1"));
  EXPECT_FALSE(mirrors_.has("default", "kube-scheduler-n1"));
  EXPECT_EQ(logged(), "first\n");
  EXPECT_EQ(logged({.previous = true}),
            "previous terminated container \"kube-scheduler\" in pod \"kube-scheduler-n1\" not "
            "found");
  mirrors_.has_ended("scheduler", 1, 0, 1s);
  EXPECT_EQ(logged({.previous = true}), "first\n") << "it waits, so the last run is the one before";
  begin();
  log("second\n");
  EXPECT_EQ(logged(), "second\n");
  EXPECT_EQ(logged({.previous = true}), "first\n");
}

}  // namespace
}  // namespace plim::local::cluster
