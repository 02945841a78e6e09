#include "servo/payload.hpp"

#include <gtest/gtest.h>

#include "base/rfc3339.hpp"
#include "servo/testing/pods.hpp"

namespace plim::servo {
namespace {

using testing::some_run;

TEST(Payload, equals_the_original_servos_byte_by_byte) {
  loop::RunRecord run = some_run("u");
  run.estimate = 60;
  EXPECT_EQ(measurement(run, Extra::none),
            R"({"event":"MEASUREMENT","param":{"metrics":{"duration":{"value":42,"unit":"s"},)"
            R"("perf":{"value":0.023809523809523808,"unit":"1/s"},)"
            R"("est_duration":{"value":60,"unit":"s"}},)"
            R"("annotations":{"resources":"{\"limits\":{\"memory\":\"64Mi\"}}","exitcode":0}}})");
}

TEST(Payload, a_run_of_zero_seconds_has_no_rate) {
  loop::RunRecord run = some_run("u");
  run.finished = run.started;
  run.resources = json::object{};
  EXPECT_EQ(measurement(run, Extra::none),
            R"({"event":"MEASUREMENT","param":{"metrics":{"duration":{"value":0,"unit":"s"}},)"
            R"("annotations":{"resources":"{}","exitcode":0}}})");
}

TEST(Payload, says_that_the_clock_was_stepped) {
  loop::RunRecord run = some_run("u");
  std::swap(run.started, run.finished);
  run.clock_stepped = true;
  const json::value sent = *parse_json(measurement(run, Extra::none));
  EXPECT_EQ(text_at(sent, {"param", "annotations", "clock"}), "stepped");
  EXPECT_EQ(int_at(sent, {"param", "metrics", "duration", "value"}), 0);
}

TEST(Payload, has_extra_metrics_if_enabled) {
  const json::value sent = *parse_json(measurement(some_run("u"), Extra::more));
  EXPECT_EQ(int_at(sent, {"param", "metrics", "queue_time", "value"}), 10);
  EXPECT_EQ(int_at(sent, {"param", "metrics", "init_time", "value"}), 5);
  EXPECT_EQ(int_at(sent, {"param", "metrics", "attempts", "value"}), 1);
}

TEST(Payload, hello_and_goodbye_name_the_account) {
  EXPECT_EQ(hello("me"), R"({"event":"HELLO","param":{"account":"me"}})");
  EXPECT_EQ(goodbye("me", "signal 15"),
            R"({"event":"GOODBYE","param":{"account":"me","reason":"signal 15"}})");
}

}  // namespace
}  // namespace plim::servo
