#include "servo/job.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "base/testing/json_gen.hpp"
#include "base/utf8.hpp"
#include "kube/paths.hpp"
#include "servo/payload.hpp"
#include "servo/testing/pods.hpp"

namespace plim::servo {
namespace {

using namespace plim::servo::testing;
using loop::RunRecord;
using ::testing::HasSubstr;

Sighting look(const json::value& pod, Seen seen = Seen::present) {
  return look_at(pod, default_rules(), seen, WallTime{});
}

void annotate(json::value& pod, std::string_view name, std::string_view value) {
  kube::make_object(pod, "Pod.metadata.annotations")[name] = value;
}

json::value with_policy(json::value pod, std::string_view policy) {
  pod.at("spec").as_object()["restartPolicy"] = policy;
  return pod;
}

TEST(Job, a_container_that_ended_is_a_run_with_its_own_times) {
  const Sighting seen = look(ended_pod("u1", "a1"));
  ASSERT_TRUE(seen.is_job);
  ASSERT_EQ(seen.ended.size(), 1u);
  const RunRecord& run = seen.ended[0];
  EXPECT_EQ(run.key(), "u1/main/0");
  EXPECT_EQ(run.app, "a1");
  EXPECT_EQ(run.duration(), 42);
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_EQ(run.node, "n1");
  EXPECT_EQ(run.result, RunRecord::Result::completed);
  EXPECT_EQ(to_json(run.resources), R"({"limits":{"memory":"64Mi"}})");
  EXPECT_FALSE(seen.open);
}

TEST(Job, a_running_container_is_an_open_run) {
  const Sighting seen = look(running_pod("u1", "a1"));
  EXPECT_TRUE(seen.is_job);
  EXPECT_TRUE(seen.ended.empty());
  ASSERT_TRUE(seen.open);
  EXPECT_EQ(seen.open->result, RunRecord::Result::deleted);
}

TEST(Job, restart_policies_decide_what_is_a_job) {
  EXPECT_TRUE(look(with_policy(ended_pod("u", "a"), "Never")).is_job);
  EXPECT_TRUE(look(with_policy(ended_pod("u", "a"), "OnFailure")).is_job);
  EXPECT_FALSE(look(with_policy(ended_pod("u", "a"), "Always")).is_job);
  EXPECT_EQ(look(with_policy(ended_pod("u", "a"), "Always")).miss, "");
  json::value service = with_policy(ended_pod("u", "a"), "Always");
  annotate(service, "plimsoll.io/job", "true");
  EXPECT_TRUE(look(service).is_job);
  json::value refused = ended_pod("u", "a");
  annotate(refused, "plimsoll.io/job", "false");
  EXPECT_FALSE(look(refused).is_job);
  json::value mirror = ended_pod("u", "a");
  annotate(mirror, "kubernetes.io/config.mirror", "x");
  EXPECT_FALSE(look(mirror).is_job);
}

TEST(Job, ignores_other_namespaces) {
  json::value pod = ended_pod("u", "a");
  pod.at("metadata").as_object()["namespace"] = "other";
  EXPECT_FALSE(look(pod).is_job);
  EXPECT_EQ(look(pod).miss, "");
}

TEST(Job, on_failure_only_the_last_attempt_counts) {
  json::value pod = with_policy(ended_pod("u", "a", forty_two_seconds(1)), "OnFailure");
  pod.at("status").as_object()["phase"] = "Running";
  main_status(pod)["restartCount"] = 3;
  EXPECT_TRUE(look(pod).ended.empty());
  EXPECT_EQ(look(pod, Seen::deleted).ended.size(), 1u);
  pod.at("status").as_object()["phase"] = "Failed";
  ASSERT_EQ(look(pod).ended.size(), 1u);
  EXPECT_EQ(look(pod).ended[0].attempts(), 4);
  EXPECT_EQ(look(pod).ended[0].key(), "u/main/3");
}

TEST(Job, a_service_that_counts_as_a_job_has_many_runs) {
  json::value pod = with_policy(running_pod("u", "a"), "Always");
  annotate(pod, "plimsoll.io/job", "true");
  main_status(pod)["restartCount"] = 2;
  main_status(pod)["lastState"] = json::object{{"terminated", forty_two_seconds(1)}};
  const Sighting seen = look(pod);
  ASSERT_EQ(seen.ended.size(), 1u);
  EXPECT_EQ(seen.ended[0].key(), "u/main/1");
  EXPECT_TRUE(seen.open);
}

TEST(Job, a_container_that_never_ran_has_failed_with_a_reason) {
  for (json::value start :
       {json::value(nullptr), json::value("1970-01-01T00:00:00Z"), json::value("soon"),
        json::value("9999-01-01T00:00:00Z"), json::value(5)}) {
    json::value terminated = forty_two_seconds(128);
    terminated.as_object()["startedAt"] = start;
    terminated.as_object()["reason"] = "StartError";
    const Sighting seen = look(ended_pod("u", "a", terminated));
    ASSERT_EQ(seen.ended.size(), 1u);
    EXPECT_EQ(seen.ended[0].result, RunRecord::Result::failed);
    EXPECT_THAT(seen.ended[0].message, HasSubstr("StartError"));
    EXPECT_THAT(measurement(seen.ended[0], Extra::none),
                HasSubstr(R"({"event":"MEASUREMENT","param":{"status":"failed","message":"the)"));
  }
}

TEST(Job, a_long_reason_is_cut_between_characters) {
  json::value pod = running_pod("u1", "a1");
  pod.at("status").as_object()["phase"] = "Failed";
  for (int shift = 0; shift < 3; ++shift) {
    std::string text(static_cast<std::size_t>(shift), 'x');
    while (text.size() < 2000) text += "\u20ac";
    pod.at("status").as_object()["message"] = text;
    pod.at("status").at("containerStatuses").as_array().clear();
    const Sighting seen = look(pod);
    ASSERT_EQ(seen.ended.size(), 1u);
    EXPECT_LE(seen.ended[0].message.size(), 1024u);
    EXPECT_EQ(seen.ended[0].message, to_valid_utf8(seen.ended[0].message));
  }
}

TEST(Job, an_evicted_pod_has_failed_with_its_reason) {
  json::value pod = running_pod("u", "a");
  pod.at("status").as_object()["phase"] = "Failed";
  pod.at("status").as_object()["reason"] = "Evicted";
  ASSERT_EQ(look(pod).ended.size(), 1u);
  EXPECT_THAT(look(pod).ended[0].message, HasSubstr("Evicted"));
  pod.at("status").as_object().erase("containerStatuses");
  EXPECT_EQ(look(pod).ended.size(), 1u);
}

TEST(Job, a_failed_init_container_is_named) {
  json::value pod = running_pod("u1", "a1");
  json::object& status = pod.at("status").as_object();
  status["phase"] = "Failed";
  status["containerStatuses"] = json::parse(
      R"([{"name": "main", "restartCount": 0, "state": {"waiting": {"reason": "PodInitializing"}}}])");
  status["initContainerStatuses"] = json::parse(
      R"([{"name": "good", "state": {"terminated": {"exitCode": 0}}},
          {"name": "bad", "state": {"terminated": {"exitCode": 4}}}])");
  const Sighting seen = look(pod);
  ASSERT_EQ(seen.ended.size(), 1u);
  EXPECT_EQ(seen.ended[0].result, RunRecord::Result::failed);
  EXPECT_EQ(seen.ended[0].message, "the pod failed: init container bad ended with exit code 4");
}

TEST(Job, the_measured_container_can_be_chosen) {
  json::value pod = ended_pod("u", "a");
  annotate(pod, "plimsoll.io/measure", "side");
  EXPECT_TRUE(look(pod).ended.empty());
  ASSERT_TRUE(look(pod).open);
  EXPECT_EQ(look(pod).open->container, "side");
  annotate(pod, "plimsoll.io/measure", "nobody");
  EXPECT_EQ(look(pod).miss, "container");
  JobRules by_name{Namespaces{{"default"}}, default_path(), "side"};
  EXPECT_EQ(look_at(ended_pod("u", "a"), by_name, Seen::present, {}).open->container, "side");
  JobRules beyond{Namespaces{{"default"}}, default_path(), "7"};
  EXPECT_EQ(look_at(ended_pod("u", "a"), beyond, Seen::present, {}).miss, "container");
}

TEST(Job, reads_odd_times_and_exit_codes) {
  json::value stepped = ended_pod("u", "a", times("2026-01-01T10:00:42Z", "2026-01-01T10:00:00Z"));
  EXPECT_TRUE(look(stepped).ended[0].clock_stepped);
  EXPECT_EQ(look(stepped).ended[0].duration(), 0);
  json::value offset =
      ended_pod("u", "a", times("2026-01-01T12:00:00.5+02:00", "2026-01-01T10:00:02Z"));
  EXPECT_EQ(look(offset).ended[0].duration(), 2);
  json::value text = forty_two_seconds();
  text.as_object()["exitCode"] = "0";
  EXPECT_FALSE(look(ended_pod("u", "a", text)).ended[0].exit_code);
}

TEST(Job, the_estimate_comes_from_an_annotation) {
  const std::pair<const char*, std::optional<std::int64_t>> cases[] = {
      {"1767261650", 60}, {"abc", {}}, {"1e30", {}}, {"", {}}, {"99999999999999999999", {}}};
  for (const auto& [text, estimate] : cases) {
    json::value pod = ended_pod("u", "a");
    annotate(pod, "done-at", text);
    EXPECT_EQ(look(pod).ended[0].estimate, estimate) << text;
  }
  json::value pod = ended_pod("u", "a");
  annotate(pod, "done-at", "-9223372036854775808");
  EXPECT_FALSE(look(pod).ended[0].estimate);
}

TEST(Job, missing_image_bytes_come_from_the_schedulers_decision) {
  json::value pod = ended_pod("u", "a");
  annotate(pod, "plimsoll.io/decision", R"({"node":"n1","missingBytes":4096})");
  EXPECT_EQ(look(pod).ended[0].missing_bytes, 4096);
  annotate(pod, "plimsoll.io/decision", "{broken");
  EXPECT_FALSE(look(pod).ended[0].missing_bytes);
}

TEST(Job, names_why_a_pod_is_not_a_job) {
  json::value pod = ended_pod("u", "a");
  pod.at_pointer("/spec/containers/0").as_object().erase("env");
  EXPECT_EQ(look(pod).miss, "missing");
  EXPECT_EQ(look(ended_pod("u", "")).miss, "empty");
}

RC_GTEST_PROP(Job, any_json_is_looked_at_without_harm, ()) {
  json::value pod = ended_pod("u", "a");
  // A value of the wrong type at each place.
  const std::string place = *rc::gen::element<std::string>(
      "/metadata", "/metadata/uid", "/metadata/namespace", "/spec", "/spec/containers",
      "/spec/containers/0", "/spec/containers/0/name", "/spec/containers/0/env", "/status",
      "/status/phase", "/status/containerStatuses", "/status/containerStatuses/1",
      "/status/containerStatuses/1/state", "/status/containerStatuses/1/state/terminated",
      "/status/containerStatuses/1/restartCount", "/metadata/creationTimestamp");
  pod.at_pointer(place) = plim::testing::arbitrary_json(2);
  for (Seen seen : {Seen::present, Seen::deleted})
    for (const RunRecord& run : look(pod, seen).ended) {
      RC_ASSERT(loop::run_from_json(loop::run_to_json(run)).has_value());
      RC_ASSERT(parse_json(measurement(run, Extra::more)).has_value());
    }
}

}  // namespace
}  // namespace plim::servo
