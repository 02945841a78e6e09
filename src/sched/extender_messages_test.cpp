#include "sched/extender_messages.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace plim::sched {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

const std::vector<std::string> kAsked{"a", "b", "c"};

TEST(ExtenderMessages, send_nodes_by_name_or_as_objects) {
  EXPECT_EQ(extender_args_by_name(R"({"p":1})", kAsked),
            R"({"Pod":{"p":1},"Nodes":null,"NodeNames":["a","b","c"]})");
  const std::vector<std::string> nodes{R"({"n":1})", R"({"n":2})"};
  EXPECT_EQ(
      extender_args_by_object(R"({"p":1})", nodes),
      R"({"Pod":{"p":1},"Nodes":{"metadata":{},"items":[{"n":1},{"n":2}]},"NodeNames":null})");
}

TEST(ExtenderMessages, contain_passed_nodes_and_reasons) {
  auto read = read_filter_answer(
      R"({"NodeNames":["c"],"FailedNodes":{"a":"hot","b":"busy"},"FailedAndUnresolvableNodes":{"b":"gone"}})",
      "http://x", kAsked, true);
  ASSERT_TRUE(read);
  EXPECT_THAT(read->passed, ElementsAre("c"));
  ASSERT_EQ(read->rejections.size(), 2U);
  EXPECT_EQ(read->rejections[0].code, RejectCode::unschedulable);
  EXPECT_EQ(read->rejections[0].reason, "hot");
  EXPECT_EQ(read->rejections[1].code, RejectCode::unresolvable);
  EXPECT_EQ(read->rejections[1].reason, "gone");
}

TEST(ExtenderMessages, are_read_with_field_names_in_any_case) {
  auto read = read_filter_answer(
      R"({"nodes":{"items":[{"metadata":{"name":"b"}}]},"failedNodes":{"a":"x"},"error":""})",
      "http://x", kAsked, false);
  ASSERT_TRUE(read);
  EXPECT_THAT(read->passed, ElementsAre("b"));
  ASSERT_EQ(read->rejections.size(), 2U);
  EXPECT_EQ(read->rejections[1].node, "c");
  EXPECT_EQ(read->rejections[1].reason, "");
}

TEST(ExtenderMessages, without_nodes_mean_that_no_node_passes) {
  for (const char* text : {"{}", "null", R"({"NodeNames":null})"}) {
    auto read = read_filter_answer(text, "http://x", kAsked, true);
    ASSERT_TRUE(read) << text;
    EXPECT_THAT(read->passed, IsEmpty());
    EXPECT_EQ(read->rejections.size(), 3U);
  }
}

TEST(ExtenderMessages, that_are_invalid_are_errors) {
  const auto error_of = [](const char* text, bool by_name) {
    return read_filter_answer(text, "http://x", kAsked, by_name).error().message;
  };
  EXPECT_EQ(error_of(R"({"Error":"no idea"})", true), "no idea");
  EXPECT_EQ(
      error_of(R"({"NodeNames":["z"]})", true),
      R"(extender "http://x" claims a filtered node "z" which is not found in the input node list)");
  EXPECT_EQ(error_of("[1]", true), "the answer of extender http://x: expected an object");
  EXPECT_FALSE(read_filter_answer(R"({"NodeNames":[1]})", "http://x", kAsked, true));
  EXPECT_FALSE(read_filter_answer(R"({"Nodes":{"items":{}}})", "http://x", kAsked, false));
  EXPECT_FALSE(read_filter_answer(R"({"FailedNodes":{"a":1}})", "http://x", kAsked, true));
  EXPECT_EQ(error_of("<html>", true).find("the answer of extender http://x:1:1: "), 0u);
}

TEST(ExtenderMessages, give_scores_by_host) {
  auto read = read_priorities(R"([{"Host":"a","Score":7},{"host":"b"},{"Host":"c","Score":1e3}])");
  EXPECT_FALSE(read);
  read = read_priorities(
      R"([{"Host":"a","Score":7},{"host":"b"},{"Host":"c","Score":9223372036854775807}])");
  ASSERT_TRUE(read);
  EXPECT_THAT(*read, ElementsAre(Pair("a", 7), Pair("b", 0), Pair("c", 1'000'000)));
  EXPECT_THAT(*read_priorities("null"), IsEmpty());
  EXPECT_FALSE(read_priorities("{}"));
}

TEST(ExtenderMessages, bind) {
  EXPECT_EQ(extender_binding("p", "ns", "u", "n"),
            R"({"PodName":"p","PodNamespace":"ns","PodUID":"u","Node":"n"})");
  EXPECT_TRUE(read_binding_answer("{}"));
  EXPECT_TRUE(read_binding_answer(R"({"Error":""})"));
  EXPECT_EQ(read_binding_answer(R"({"error":"busy"})").error().message, "busy");
}

TEST(ExtenderMessages, send_victims_by_uid_or_as_objects) {
  const std::vector<ExtenderVictims> victims{{"b", {"u2"}, 1}, {"a", {"u1", "u3"}, 0}};
  EXPECT_EQ(
      extender_preemption("{}", victims, VictimForm::uid),
      R"({"Pod":{},"NodeNameToVictims":null,"NodeNameToMetaVictims":{"a":{"Pods":[{"UID":"u1"},{"UID":"u3"}],"NumPDBViolations":0},"b":{"Pods":[{"UID":"u2"}],"NumPDBViolations":1}}})");
  const std::vector<ExtenderVictims> whole{{"a", {R"({"v":1})"}, 0}};
  EXPECT_EQ(
      extender_preemption("{}", whole, VictimForm::object),
      R"({"Pod":{},"NodeNameToVictims":{"a":{"Pods":[{"v":1}],"NumPDBViolations":0}},"NodeNameToMetaVictims":null})");
  auto read = read_preemption_answer(
      R"({"NodeNameToMetaVictims":{"a":{"Pods":[{"UID":"u1"}],"NumPDBViolations":2},"b":{"pods":null}}})");
  ASSERT_TRUE(read);
  ASSERT_EQ(read->size(), 2U);
  EXPECT_THAT((*read)[0].pods, ElementsAre("u1"));
  EXPECT_EQ((*read)[0].budget_violations, 2);
  EXPECT_THAT((*read)[1].pods, IsEmpty());
  EXPECT_FALSE(read_preemption_answer(R"({"NodeNameToMetaVictims":[]})"));
}

}  // namespace
}  // namespace plim::sched
