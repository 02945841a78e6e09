#include "loop/run_record.hpp"

#include <gtest/gtest.h>

#include "base/rfc3339.hpp"

namespace plim::loop {
namespace {

RunRecord full() {
  RunRecord out;
  out.uid = "u1";
  out.container = "main";
  out.restarts = 2;
  out.ns = "batch";
  out.pod = "p";
  out.app = "a/b \u2713";
  out.node = "n";
  out.image = "i:1";
  out.created = *parse_rfc3339("2026-01-01T09:59:00Z");
  out.pod_started = *parse_rfc3339("2026-01-01T09:59:30Z");
  out.started = *parse_rfc3339("2026-01-01T10:00:00Z");
  out.finished = *parse_rfc3339("2026-01-01T10:00:42Z");
  out.exit_code = 3;
  out.reason = "Error";
  out.message = "m";
  out.resources = json::parse(R"({"limits":{"memory":"64Mi"}})");
  out.estimate = 60;
  out.missing_bytes = 7;
  out.clock_stepped = true;
  out.observed = *parse_rfc3339("2026-01-01T10:00:43.5Z");
  return out;
}

TEST(RunRecord, is_the_same_after_writing_and_reading) {
  const RunRecord before = full();
  auto after = run_from_json(run_to_json(before));
  ASSERT_TRUE(after) << after.error().message;
  EXPECT_EQ(run_to_json(*after), run_to_json(before));
  EXPECT_EQ(after->key(), "u1/main/2");
  EXPECT_EQ(after->duration(), 42);
  EXPECT_EQ(after->observed, before.observed);
}

TEST(RunRecord, a_run_with_few_fields_is_the_same_too) {
  RunRecord before;
  before.uid = "u";
  before.container = "c";
  before.app = "a";
  before.result = RunRecord::Result::deleted;
  auto after = run_from_json(run_to_json(before));
  ASSERT_TRUE(after);
  EXPECT_EQ(run_to_json(*after), run_to_json(before));
  EXPECT_FALSE(after->duration());
  EXPECT_FALSE(after->exit_code);
}

TEST(RunRecord, whole_seconds_count) {
  RunRecord run = full();
  run.started = *parse_rfc3339("2026-01-01T10:00:00.9Z");
  run.finished = *parse_rfc3339("2026-01-01T10:00:01.1Z");
  EXPECT_EQ(run.duration(), 1);
  run.finished = *parse_rfc3339("2026-01-01T09:00:00Z");
  EXPECT_EQ(run.duration(), 0);
}

TEST(RunRecord, rejects_records_without_a_key) {
  for (const char* text : {"{}", "[]", "null", R"({"uid":"u","container":"c","app":"a"})",
                           R"({"uid":"u","container":"c","result":"completed"})"})
    EXPECT_FALSE(run_from_json(json::parse(text))) << text;
}

}  // namespace
}  // namespace plim::loop
