#include "loop/application_id.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "base/testing/json_gen.hpp"

namespace plim::loop {
namespace {

using ::testing::HasSubstr;

const json::value& pod() {
  static const json::value kPod = json::parse(R"({
    "metadata": {"name": "p", "labels": {"app": "web", "teraslice.terascope.io/jobName": "flow-1"},
                 "annotations": {"a\"b\\c": "odd", "empty": ""}},
    "spec": {"priority": 7, "hostNetwork": true, "volumes": null, "words": ["x", "y"], "containers": [
      {"name": "main", "image": "busybox",
       "env": [{"name": "FIRST", "value": "1"}, {"value": "nameless"},
               {"name": "SECRET", "valueFrom": {"secretKeyRef": {"name": "s"}}},
               {"name": "JOBID", "value": "job-42"}, {"name": "JOBID", "value": "second"},
               {"name": "EMPTY", "value": ""}, {"name": "BELL", "value": "a\u0007b"}],
       "ports": [{"name": "http", "containerPort": 80}]},
      {"name": "side"}]}})");
  return kPod;
}

AppIdLookup find(std::string_view path) {
  auto parsed = AppIdPath::parse(path);
  return parsed ? parsed->find(pod()) : AppIdLookup{.miss = AppIdMiss::none, .why = "bad path"};
}

std::string mistake(std::string_view path) {
  auto parsed = AppIdPath::parse(path);
  return parsed ? "accepted" : parsed.error().message;
}

TEST(AppIdPath, finds_the_value_at_a_path) {
  EXPECT_EQ(find("spec/containers/0/env/[JOBID]").id, "job-42");
  EXPECT_EQ(find("/spec//containers/0/env/[JOBID]/").id, "job-42");
  EXPECT_EQ(find("spec/containers/-2/name").id, "main");
  EXPECT_EQ(find("spec/containers/0/ports/[http,name,containerPort]").id, "80");
  EXPECT_EQ(find("spec/containers/[main,name,env]/[JOBID]").id, "job-42");
  EXPECT_EQ(find("spec/containers/[main,name,image]").id, "busybox");
  EXPECT_EQ(find(R"(metadata/labels/"teraslice.terascope.io/jobName")").id, "flow-1");
  EXPECT_EQ(find(R"(metadata/annotations/"a\"b\\c")").id, "odd");
  EXPECT_EQ(find("spec/priority").id, "7");
  EXPECT_EQ(find("spec/hostNetwork").id, "true");
}

TEST(AppIdPath, uses_the_first_of_several_paths_that_gives_an_id) {
  EXPECT_EQ(find("metadata/nothing|metadata/labels/app|spec/priority").id, "web");
  EXPECT_EQ(
      find("spec/containers/0/env/[NOPE]|metadata/labels/\"teraslice.terascope.io/jobName\"").id,
      "flow-1");
  EXPECT_EQ(find("spec/containers/0/env/[SECRET]|metadata/nothing").miss, AppIdMiss::value_from);
}

TEST(AppIdPath, reports_why_there_is_no_id) {
  const std::pair<const char*, AppIdMiss> cases[] = {
      {"metadata/labels/nothing", AppIdMiss::missing},
      {"spec/containers/2", AppIdMiss::missing},
      {"spec/containers/-3/name", AppIdMiss::missing},
      {"spec/containers/x", AppIdMiss::missing},
      {"spec/containers/99999999999999999999", AppIdMiss::missing},
      {"metadata/name/deeper", AppIdMiss::missing},
      {"spec/priority/deeper", AppIdMiss::missing},
      {"spec/volumes/deeper", AppIdMiss::missing},
      {"metadata/labels/[app]", AppIdMiss::missing},
      {"spec/words/[x]", AppIdMiss::missing},
      {"spec/containers/0/env/[NOPE]", AppIdMiss::missing},
      {"spec/containers/0/ports/[http]", AppIdMiss::missing},
      {"spec/containers/0/env/[SECRET]", AppIdMiss::value_from},
      {"spec/containers/0/env/[EMPTY]", AppIdMiss::empty},
      {"metadata/annotations/empty", AppIdMiss::empty},
      {"spec/containers/0/env/[BELL]", AppIdMiss::control},
      {"metadata/labels", AppIdMiss::not_text},
      {"spec/containers", AppIdMiss::not_text},
      {"spec/volumes", AppIdMiss::not_text},
  };
  for (const auto& [path, miss] : cases) {
    const AppIdLookup found = find(path);
    EXPECT_EQ(name_of(found.miss), name_of(miss)) << path;
    EXPECT_TRUE(found.id.empty()) << path;
    EXPECT_FALSE(found.why.empty()) << path;
  }
}

TEST(AppIdPath, rejects_ids_that_are_too_long) {
  const auto path = *AppIdPath::parse("id");
  EXPECT_TRUE(path.find(json::object{{"id", std::string(256, 'x')}}).found());
  EXPECT_EQ(path.find(json::object{{"id", std::string(257, 'x')}}).miss, AppIdMiss::too_long);
  EXPECT_EQ(path.find(json::object{{"id", std::string(1 << 20, 'x')}}).miss, AppIdMiss::too_long);
}

TEST(AppIdPath, rejects_bad_paths_with_the_column) {
  EXPECT_EQ(mistake(""), "column 1: the path is empty");
  EXPECT_EQ(mistake("//"), "column 1: the path is empty");
  EXPECT_EQ(mistake("a||b"), "column 3: the path is empty");
  EXPECT_EQ(mistake("a|"), "column 3: the path is empty");
  EXPECT_THAT(mistake("spec/[]"), HasSubstr("column 6: expected [name]"));
  EXPECT_THAT(mistake("spec/[a,b]"), HasSubstr("column 6"));
  EXPECT_THAT(mistake("spec/[a,b,c,d]"), HasSubstr("column 6"));
  EXPECT_THAT(mistake("[a,,c]"), HasSubstr("column 1"));
  EXPECT_EQ(mistake("env/[JOBID"), "column 5: this '[' is never closed");
  EXPECT_EQ(mistake("a/\"b"), "column 3: this quote is never closed");
  EXPECT_THAT(mistake("[a]b"), HasSubstr("column 4"));
  EXPECT_THAT(mistake("a[b"), HasSubstr("column 2"));
}

RC_GTEST_PROP(AppIdPath, an_id_that_is_found_is_usable, ()) {
  auto path = AppIdPath::parse(*plim::testing::awkward_text());
  if (!path) return;
  const AppIdLookup found = path->find(plim::testing::arbitrary_json());
  RC_ASSERT(found.found() == !found.id.empty());
  RC_ASSERT(found.id.size() <= kLongestAppId);
}

}  // namespace
}  // namespace plim::loop
