#include "kube/client.hpp"

#include <set>

#include <gtest/gtest.h>

#include "base/text.hpp"
#include "kube/testing/scripted_server.hpp"

namespace plim::kube {
namespace {

using Pairs = std::vector<std::pair<std::string, std::string>>;
using plim::testing::ScriptedServer;

class ClientTest : public ::testing::Test {
 protected:
  void SetUp() override { connect(server.config()); }

  void TearDown() override { run_to_end(loop, server.stop()); }

  void connect(Config config) {
    auto made = Client::create(loop.executor(), std::move(config), clock);
    ASSERT_TRUE(made) << made.error().message;
    client = *made;
  }

  template <class T>
  T run(Task<T> task) {
    return plim::testing::run_without_waiting(loop, clock, std::move(task));
  }

  const net::Request& sent() { return server.last(); }

  json::value sent_json() { return parse_json(sent().body).value_or(nullptr); }

  Pairs query() { return net::parse_query(sent().query); }

  Loop loop;
  FakeClock clock;
  ScriptedServer server{loop};
  std::shared_ptr<Client> client;
};

Task<void> ask_for_version(std::shared_ptr<Client> client) {
  net::Request request;
  request.path = "/version";
  const net::CallOptions options;
  const auto answer = co_await client->raw(std::move(request), options);
  EXPECT_TRUE(answer) << answer.error().message;
}

TEST_F(ClientTest, concurrent_requests_reuse_connections) {
  constexpr std::size_t kAtATime = 32;
  Config config = server.config();
  config.qps = 0;
  connect(config);
  TaskGroup group(loop.executor());
  for (int round = 0; round < 2; ++round) {
    for (std::size_t i = 0; i < kAtATime; ++i) {
      server.answer(200, "{}");
      group.spawn("ask", ask_for_version(client));
    }
    run_to_end(loop, group.join());
  }
  std::set<std::string> peers;
  for (const net::Request& request : server.requests()) peers.insert(request.peer.address);
  EXPECT_EQ(server.requests().size(), 2 * kAtATime);
  EXPECT_LE(peers.size(), kAtATime);
}

TEST_F(ClientTest, gets_an_object_and_says_who_asks) {
  server.answer(200, R"({"kind":"Pod","metadata":{"name":"web"}})");
  const auto pod = run(client->get(resources::pods, {"shop", "web"}));
  ASSERT_TRUE(pod) << pod.error().message;
  EXPECT_EQ(text_at(*pod, {"metadata", "name"}), "web");
  EXPECT_EQ(sent().method, "GET");
  EXPECT_EQ(sent().path, "/api/v1/namespaces/shop/pods/web");
  EXPECT_EQ(sent().query, "");
  EXPECT_EQ(sent().headers.get("Accept"), "application/json");
  EXPECT_TRUE(sent().headers.get("User-Agent").starts_with("plimsoll/"))
      << sent().headers.get("User-Agent");
  EXPECT_FALSE(sent().headers.has("Authorization"));
}

TEST_F(ClientTest, creates_in_the_namespace_of_the_object) {
  server.answer(201, "{}");
  WriteOptions options{.dry_run = true, .field_validation = "Strict"};
  const auto object = *parse_json(R"({"metadata":{"name":"web","namespace":"shop"}})");
  ASSERT_TRUE(run(client->create(resources::pods, {"", "web"}, object, options)));
  EXPECT_EQ(sent().method, "POST");
  EXPECT_EQ(sent().path, "/api/v1/namespaces/shop/pods");
  EXPECT_EQ(
      query(),
      (Pairs{{"dryRun", "All"}, {"fieldManager", "plimsoll"}, {"fieldValidation", "Strict"}}));
  EXPECT_EQ(sent().headers.get("Content-Type"), "application/json");
  EXPECT_EQ(sent_json(), object);
}

TEST_F(ClientTest, binds_evicts_and_scales_through_sub_resources) {
  server.answer(201, "{}");
  ASSERT_TRUE(run(client->create(resources::pods, {"shop", "web", "binding"}, json::object())));
  EXPECT_EQ(sent().path, "/api/v1/namespaces/shop/pods/web/binding");
  server.answer(200, "{}");
  ASSERT_TRUE(
      run(client->update(resources::deployments, {"shop", "web", "scale"}, json::object())));
  EXPECT_EQ(sent().method, "PUT");
  EXPECT_EQ(sent().path, "/apis/apps/v1/namespaces/shop/deployments/web/scale");
}

TEST_F(ClientTest, patches_in_all_four_ways) {
  const std::vector<std::pair<PatchType, std::string>> types{
      {PatchType::json, "application/json-patch+json"},
      {PatchType::merge, "application/merge-patch+json"},
      {PatchType::strategic, "application/strategic-merge-patch+json"},
      {PatchType::apply, "application/apply-patch+yaml"}};
  for (const auto& [type, content_type] : types) {
    server.answer(200, "{}");
    WriteOptions options{.field_manager = "me & you", .force = type == PatchType::apply};
    ASSERT_TRUE(run(client->patch(resources::nodes, {"", "n1", "status"}, type,
                                  json::object{{"a", 1}}, options)));
    EXPECT_EQ(sent().method, "PATCH");
    EXPECT_EQ(sent().path, "/api/v1/nodes/n1/status");
    EXPECT_EQ(sent().headers.get("Content-Type"), content_type);
    EXPECT_EQ(sent().body, R"({"a":1})");
    Pairs expected{{"fieldManager", "me & you"}};
    if (options.force) expected.emplace_back("force", "true");
    EXPECT_EQ(query(), expected);
  }
}

TEST_F(ClientTest, deletes_with_options_and_preconditions) {
  server.answer(200, R"({"kind":"Status","status":"Success"})");
  DeleteOptions options{.grace_seconds = 0,
                        .propagation = "Foreground",
                        .uid = "u",
                        .resource_version = "7",
                        .dry_run = true};
  ASSERT_TRUE(run(client->remove(resources::pods, {"shop", "web"}, options)));
  EXPECT_EQ(sent().method, "DELETE");
  EXPECT_EQ(sent_json(),
            *parse_json(R"({"kind":"DeleteOptions","apiVersion":"v1","gracePeriodSeconds":0,
      "propagationPolicy":"Foreground","preconditions":{"uid":"u","resourceVersion":"7"},"dryRun":["All"]})"));
}

TEST_F(ClientTest, deletes_a_selected_collection) {
  server.answer(200, "{}");
  ListOptions which{.ns = "shop", .label_selector = "app in (a, b),!c"};
  ASSERT_TRUE(run(client->remove_collection(resources::pods, which)));
  EXPECT_EQ(sent().path, "/api/v1/namespaces/shop/pods");
  EXPECT_EQ(query(), (Pairs{{"labelSelector", "app in (a, b),!c"}}));
}

TEST_F(ClientTest, does_not_send_requests_without_name_or_namespace) {
  EXPECT_EQ(run(client->get(resources::pods, {"", "web"})).error().message,
            "pods \"web\": the namespace is missing");
  EXPECT_EQ(run(client->remove(resources::pods, {"shop", ""})).error().message,
            "pods: the name is missing");
  ListOptions everywhere;
  EXPECT_FALSE(run(client->remove_collection(resources::pods, everywhere)));
  EXPECT_TRUE(server.requests().empty());
}

TEST_F(ClientTest, turns_a_status_into_an_error) {
  server.answer(
      404,
      R"({"kind":"Status","reason":"NotFound","message":"pods \"web\" not found","code":404})");
  const auto pod = run(client->get(resources::pods, {"shop", "web"}));
  ASSERT_FALSE(pod);
  EXPECT_EQ(pod.error().code, Code::not_found);
  EXPECT_EQ(pod.error().message, "pods \"web\" not found");
}

TEST_F(ClientTest, says_which_answer_it_could_not_read) {
  server.answer(200, "{\"kind\": oops");
  const auto pod = run(client->get(resources::pods, {"shop", "web"}));
  ASSERT_FALSE(pod);
  EXPECT_TRUE(
      pod.error().message.starts_with("answer to GET /api/v1/namespaces/shop/pods/web:1:10"))
      << pod.error().message;
}

TEST_F(ClientTest, impersonates) {
  Config config = server.config();
  config.token = "t0ken";
  config.impersonate_user = "jane";
  config.impersonate_uid = "7";
  config.impersonate_groups = {"a", "b"};
  config.impersonate_extra = {{"scopes/x", "y"}};
  connect(config);
  server.answer(200, "{}");
  ASSERT_TRUE(run(client->get(resources::nodes, {"", "n"})));
  EXPECT_EQ(sent().headers.get("Authorization"), "Bearer t0ken");
  EXPECT_EQ(sent().headers.get("Impersonate-User"), "jane");
  EXPECT_EQ(sent().headers.get("Impersonate-Uid"), "7");
  EXPECT_EQ(sent().headers.get("Impersonate-Extra-scopes%2Fx"), "y");
  std::vector<std::string> groups;
  for (const auto& [name, value] : sent().headers)
    if (equals_ignoring_case(name, "Impersonate-Group")) groups.push_back(value);
  EXPECT_EQ(groups, (std::vector<std::string>{"a", "b"}));
}

TEST_F(ClientTest, raw_hands_back_any_answer) {
  server.answer(418, "short and stout");
  net::Request request;
  request.path = "/healthz";
  request.query = "verbose";
  const auto answer = run(client->raw(request));
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->status, 418);
  EXPECT_EQ(answer->body, "short and stout");
  EXPECT_EQ(sent().path, "/healthz");
}

TEST_F(ClientTest, raw_pipelined_signs_every_request_and_hands_back_any_answer) {
  Config config = server.config();
  config.token = "s3cret";
  connect(config);
  server.answer(201, "a");
  server.answer(503, "b", {{"Retry-After", "1"}});
  std::vector<net::Request> requests(2);
  requests[0].path = "/first";
  requests[1].path = "/second";
  const auto answers = run(client->raw_pipelined(requests));
  ASSERT_EQ(answers.size(), 2u);
  EXPECT_EQ(answers[0]->status, 201);
  EXPECT_EQ(answers[1]->status, 503);
  ASSERT_EQ(server.requests().size(), 2u);
  for (const net::Request& request : server.requests())
    EXPECT_EQ(request.headers.get("Authorization"), "Bearer s3cret") << request.path;
  EXPECT_EQ(client->stats().requests, 2u);
}

TEST_F(ClientTest, errors_of_the_transport_hold_no_secrets) {
  Config config = server.config();
  config.token = "s3cret";
  config.password = "s3cret";
  connect(config);
  run_to_end(loop, server.stop());
  const auto answer = run(client->get(resources::nodes, {"", "n"}));
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().message.find("s3cret"), std::string::npos) << answer.error().message;
}

TEST_F(ClientTest, lists_all_pages_as_one) {
  server.answer(
      200,
      R"({"kind":"PodList","metadata":{"resourceVersion":"9","continue":"a+/=","remainingItemCount":2},"items":[{"n":1}]})");
  server.answer(
      200,
      R"({"kind":"PodList","metadata":{"resourceVersion":"9","continue":"b"},"items":[{"n":2}]})");
  server.answer(200, R"({"kind":"PodList","metadata":{"resourceVersion":"9"},"items":null})");
  ListOptions options{.ns = "shop",
                      .field_selector = "spec.nodeName=n1",
                      .resource_version = "5",
                      .resource_version_match = "NotOlderThan"};
  const auto list = run(client->list(resources::pods, options));
  ASSERT_TRUE(list) << list.error().message;
  EXPECT_EQ(
      *list,
      *parse_json(
          R"({"kind":"PodList","metadata":{"resourceVersion":"9"},"items":[{"n":1},{"n":2}]})"));
  ASSERT_EQ(server.requests().size(), 3u);
  EXPECT_EQ(net::parse_query(server.requests()[0].query),
            (Pairs{{"fieldSelector", "spec.nodeName=n1"},
                   {"limit", "500"},
                   {"resourceVersion", "5"},
                   {"resourceVersionMatch", "NotOlderThan"}}));
  EXPECT_EQ(net::parse_query(server.requests()[1].query),
            (Pairs{{"fieldSelector", "spec.nodeName=n1"}, {"limit", "500"}, {"continue", "a+/="}}));
}

TEST_F(ClientTest, starts_over_in_one_piece_when_a_continue_token_has_expired) {
  server.answer(200, R"({"metadata":{"continue":"a"},"items":[{"n":1}]})");
  server.answer(410, R"({"kind":"Status","reason":"Expired","message":"too old","code":410})");
  server.answer(200, R"({"metadata":{"resourceVersion":"12"},"items":[{"n":3}]})");
  const auto list = run(client->list(resources::pods, {.limit = 1}));
  ASSERT_TRUE(list) << list.error().message;
  EXPECT_EQ(*list, *parse_json(R"({"metadata":{"resourceVersion":"12"},"items":[{"n":3}]})"));
  EXPECT_EQ(sent().query, "");
}

TEST_F(ClientTest, an_expired_first_page_is_an_error) {
  server.answer(410, R"({"kind":"Status","reason":"Expired","message":"too old","code":410})");
  const auto list = run(client->list(resources::pods, {.resource_version = "1"}));
  ASSERT_FALSE(list);
  EXPECT_EQ(list.error().code, Code::expired);
}

TEST_F(ClientTest, one_page_comes_as_the_bytes_received) {
  const std::string page = R"( { "items" : [ ] } )";
  server.answer(200, page);
  const auto bytes = run(client->list_page(resources::pods, {.limit = 7, .continue_token = "t"}));
  ASSERT_TRUE(bytes) << bytes.error().message;
  EXPECT_EQ(*bytes, page);
  EXPECT_EQ(query(), (Pairs{{"limit", "7"}, {"continue", "t"}}));
}

}  // namespace
}  // namespace plim::kube
