#include "sched/extender_round.hpp"

#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/json.hpp"
#include "base/loop.hpp"
#include "kube/testing/stub_client.hpp"
#include "net/server.hpp"
#include "placement/testing/objects.hpp"

namespace plim::sched {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// An API server with one pod and two nodes.
class FewObjects : public plim::testing::StubClient {
 public:
  Answer<json::value> get(Resource, Path path) override {
    ++gets;
    co_return json::object{
        {"kind", "Pod"},
        {"metadata", {{"name", path.name}, {"uid", path.name}, {"managedFields", {1, 2}}}}};
  }

  Answer<std::string> list_page(Resource, kube::ListOptions) override {
    ++lists;
    co_return R"({"items":[{"metadata":{"name":"a"}},{"metadata":{"name":"b","x":1}}]})";
  }

  int gets = 0, lists = 0;
};

class ExtenderRoundTest : public ::testing::Test {
 protected:
  ExtenderRoundTest() {
    net::Route all{.method = "POST", .pattern = "*", .handler = [this](net::Request request) {
                     asked_.push_back(request.path + " " + request.body);
                     return answer(request.path);
                   }};
    server_ = *net::Server::listen({loop_.executor()}, {.address = "127.0.0.1:0"}, {all});
  }

  ~ExtenderRoundTest() override {
    run_to_end(loop_, round_.stop());
    run_to_end(loop_, server_->drain(net::Millis(0)));
  }

  Task<net::Reply> answer(std::string path) {
    auto found = answers_.find(path);
    if (found == answers_.end()) co_return net::Response{.status = 500};
    co_return net::Response{.status = 200, .body = found->second};
  }

  ExtenderConfig config(std::string prefix) const {
    ExtenderConfig out;
    out.url_prefix = "http://" + server_->address() + prefix;
    out.node_cache_capable = true;
    return out;
  }

  Result<placement::ExtenderAnswers> ask(std::vector<ExtenderConfig> configs,
                                         std::vector<std::string> nodes = {"a", "b"}) {
    auto extenders = *make_extenders(loop_.executor(), configs);
    return run_to_end(loop_, round_.ask(extenders, pod_, std::move(nodes)));
  }

  Loop loop_;
  std::map<std::string, std::string> answers_;
  std::vector<std::string> asked_;
  std::unique_ptr<net::Server> server_;
  std::shared_ptr<FewObjects> client_ = std::make_shared<FewObjects>();
  ObjectTexts texts_{client_};
  ExtenderRound round_{loop_.executor(), texts_};
  PodPointer pod_ =
      placement::testing::pod_of("{metadata: {name: p, namespace: d, uid: p}, spec: {}}");
};

TEST_F(ExtenderRoundTest, asks_filters_one_after_another_and_collects_scores) {
  ExtenderConfig last = config("/last"), first = config("/first/");
  last.ignorable = true;
  last.filter_verb = "filter";
  last.prioritize_verb = "prioritize";
  last.weight = 3;
  first.filter_verb = "deep/filter";
  answers_ = {{"/first/deep/filter", R"({"NodeNames":["b","c"],"FailedNodes":{"a":"hot"}})"},
              {"/last/filter", R"({"NodeNames":["c","b"]})"},
              {"/last/prioritize", R"([{"Host":"c","Score":7}])"}};
  auto answers = ask({last, first}, {"a", "b", "c"});
  ASSERT_TRUE(answers) << answers.error().message;
  EXPECT_THAT(answers->passed, ElementsAre("b", "c"));
  ASSERT_EQ(answers->rejections.size(), 1U);
  EXPECT_EQ(answers->rejections[0].reason, "hot");
  ASSERT_EQ(answers->scores.size(), 1U);
  EXPECT_EQ(answers->scores[0].weight, 3);
  EXPECT_EQ(answers->scores[0].extender, "http://" + server_->address() + "/last");
  const std::string pod = R"({"metadata":{"name":"p","uid":"p"}})";
  EXPECT_THAT(asked_, ElementsAre("/first/deep/filter {\"Pod\":" + pod +
                                      ",\"Nodes\":null,\"NodeNames\":[\"a\",\"b\",\"c\"]}",
                                  "/last/filter {\"Pod\":" + pod +
                                      ",\"Nodes\":null,\"NodeNames\":[\"b\",\"c\"]}",
                                  "/last/prioritize {\"Pod\":" + pod +
                                      ",\"Nodes\":null,\"NodeNames\":[\"b\",\"c\"]}"));
}

TEST_F(ExtenderRoundTest, sends_whole_nodes_to_extenders_without_a_cache) {
  ExtenderConfig one = config("");
  one.node_cache_capable = false;
  one.filter_verb = "filter";
  answers_ = {{"/filter", R"({"Nodes":{"items":[{"metadata":{"name":"b"}}]}})"}};
  auto answers = ask({one});
  ASSERT_TRUE(answers);
  EXPECT_THAT(answers->passed, ElementsAre("b"));
  ASSERT_EQ(asked_.size(), 1U);
  EXPECT_THAT(
      asked_[0],
      HasSubstr(
          R"("Nodes":{"metadata":{},"items":[{"metadata":{"name":"a"}},{"metadata":{"name":"b","x":1}}]})"));
  ASSERT_TRUE(ask({one}));
  EXPECT_EQ(client_->lists, 1);  // from then on they are known
}

TEST_F(ExtenderRoundTest, fails_if_an_extender_fails_that_is_not_ignorable) {
  ExtenderConfig one = config("");
  one.filter_verb = "broken";
  auto answers = ask({one});
  ASSERT_FALSE(answers);
  EXPECT_EQ(answers.error().message, "failed broken with extender at URL http://" +
                                         server_->address() + "/broken, code 500");
  one.ignorable = true;
  answers = ask({one});
  ASSERT_TRUE(answers);
  EXPECT_THAT(answers->passed, ElementsAre("a", "b"));
  ExtenderConfig scorer = config("");
  scorer.prioritize_verb = "broken";
  answers = ask({scorer});
  ASSERT_TRUE(answers);
  EXPECT_THAT(answers->scores, IsEmpty());
}

TEST_F(ExtenderRoundTest, asks_only_about_pods_with_a_managed_resource) {
  ExtenderConfig one = config("");
  one.filter_verb = "broken";
  one.managed = {{.name = "example.com/gpu", .ignored_by_scheduler = true}};
  EXPECT_TRUE(ask({one}));
  EXPECT_THAT(asked_, IsEmpty());
  pod_ = placement::testing::plain_pod("p", "{example.com/gpu: 1}");
  auto list = *make_extenders(loop_.executor(), std::vector<ExtenderConfig>{one});
  EXPECT_TRUE(list->front()->has_a_say(*pod_));
}

TEST_F(ExtenderRoundTest, lets_extenders_remove_victims) {
  ExtenderConfig one = config("");
  one.preempt_verb = "preempt";
  const PodPointer v = placement::testing::plain_pod("v"), w = placement::testing::plain_pod("w");
  const std::vector<PreemptionCandidate> candidates{{.node = "a", .victims = {v, w}},
                                                    {.node = "b", .victims = {w}}};
  auto list = *make_extenders(loop_.executor(), std::vector<ExtenderConfig>{one});
  answers_["/preempt"] = R"({"NodeNameToMetaVictims":{"a":{"Pods":[{"UID":")" + v->meta.uid +
                         R"("}],"NumPDBViolations":1}}})";
  auto left = run_to_end(loop_, round_.spare(list, pod_, candidates));
  ASSERT_TRUE(left) << left.error().message;
  ASSERT_EQ(left->size(), 1U);
  EXPECT_EQ((*left)[0].node, "a");
  EXPECT_THAT((*left)[0].victims, ElementsAre(v));
  EXPECT_EQ((*left)[0].budget_violations, 1);
  for (const char* nonsense : {R"({"a":{"Pods":[]}})", R"({"z":{"Pods":[{"UID":"v"}]}})",
                               R"({"b":{"Pods":[{"UID":"nobody"}]}})"}) {
    answers_["/preempt"] = std::string(R"({"NodeNameToMetaVictims":)") + nonsense + "}";
    EXPECT_FALSE(run_to_end(loop_, round_.spare(list, pod_, candidates))) << nonsense;
  }
}

TEST(ObjectTexts, keep_waiting_pods_and_nodes_while_they_are_needed) {
  kube::InternPool pool;
  auto client = std::make_shared<FewObjects>();
  ObjectTexts texts(client);
  auto codec = texts.keeping(kube::pod_codec(pool));
  Loop loop;
  std::string text =
      R"({"kind":"Pod","apiVersion":"v1","metadata":{"name":"p","namespace":"d","uid":"p","managedFields":[]},"spec":{"z":1,"a":2}})";
  auto decoded = codec.one(kube::JsonText(text));
  ASSERT_TRUE(decoded);
  auto pod = std::make_shared<const kube::Pod>(std::move(*decoded));
  ASSERT_TRUE(run_to_end(loop, texts.pod(pod)));
  EXPECT_EQ(client->gets, 1);
  texts.want(true, true);
  ASSERT_TRUE(codec.one(kube::JsonText(text)));
  EXPECT_EQ(*run_to_end(loop, texts.pod(pod)),
            R"({"metadata":{"name":"p","namespace":"d","uid":"p"},"spec":{"z":1,"a":2}})");
  EXPECT_EQ(client->gets, 1);
  texts.forget_pod("p");
  ASSERT_TRUE(run_to_end(loop, texts.pod(pod)));
  EXPECT_EQ(client->gets, 2);
}

}  // namespace
}  // namespace plim::sched
