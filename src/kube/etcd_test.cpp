#include "kube/etcd.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/json.hpp"
#include "base/loop.hpp"
#include "net/server.hpp"

namespace plim::kube {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// A gateway that answers what the test says, and remembers what it was asked.
class EtcdClientTest : public ::testing::Test {
 protected:
  EtcdClientTest() {
    net::Route all{.method = "POST", .pattern = "*", .handler = [this](net::Request request) {
                     asked_.push_back(request.path + " " + request.body);
                     return answer({.status = status_, .body = answer_});
                   }};
    server_ = *net::Server::listen({loop_.executor()}, {.address = "127.0.0.1:0"}, {all});
    // The first member is not there.
    client_ = *EtcdClient::create(
        loop_.executor(),
        {.endpoints = {"unix:///nobody/is/here", "http://" + server_->address()}, .tls = {}});
  }

  ~EtcdClientTest() override { run_to_end(loop_, server_->drain(net::Millis(0))); }

  static Task<net::Reply> answer(net::Response response) { co_return response; }

  Loop loop_;
  int status_ = 200;
  std::string answer_;
  std::vector<std::string> asked_;
  std::unique_ptr<net::Server> server_;
  std::shared_ptr<EtcdClient> client_;
};

TEST_F(EtcdClientTest, keeps_leases) {
  answer_ = R"({"header":{},"ID":"7587","TTL":"900"})";
  EXPECT_EQ(*run_to_end(loop_, client_->grant_lease(std::chrono::minutes(15))), 7587);
  answer_ = R"({"result":{"ID":"7587","TTL":"900"}})";
  EXPECT_EQ(*run_to_end(loop_, client_->keep_lease(7587)), std::chrono::minutes(15));
  answer_ = R"({"result":{"ID":"7587"}})";
  EXPECT_EQ(*run_to_end(loop_, client_->keep_lease(7587)), std::chrono::seconds(0));
  EXPECT_THAT(asked_,
              ElementsAre(R"(/v3/lease/grant {"TTL":900})", R"(/v3/lease/keepalive {"ID":7587})",
                          R"(/v3/lease/keepalive {"ID":7587})"));
}

TEST_F(EtcdClientTest, puts_in_one_transaction) {
  answer_ = R"({"succeeded":true})";
  EXPECT_TRUE(run_to_end(loop_, client_->put({{.key = "/k", .value = "v"}}, 7)));
  EXPECT_THAT(
      asked_,
      ElementsAre(
          R"(/v3/kv/txn {"success":[{"requestPut":{"key":"L2s=","value":"dg==","lease":7}}]})"));
  EXPECT_EQ(image_inventory_key("c", "n1"), "/plimsoll/images/v1/c/n1");
}

TEST_F(EtcdClientTest, lists_keys_by_prefix_and_reads_one) {
  answer_ = R"({"kvs":[{"key":"L2s=","create_revision":"3","mod_revision":"9"}],"count":"1"})";
  auto keys = run_to_end(loop_, client_->list_prefix("/k"));
  ASSERT_TRUE(keys);
  EXPECT_THAT(*keys, ElementsAre(EtcdKey{.key = "/k", .revision = 9}));
  answer_ = R"({"kvs":[{"key":"L2s=","value":"dg=="}],"count":"1"})";
  EXPECT_EQ(*run_to_end(loop_, client_->read("/k")), "v");
  answer_ = R"({"header":{}})";
  EXPECT_TRUE(run_to_end(loop_, client_->list_prefix("/k"))->empty());
  EXPECT_EQ(run_to_end(loop_, client_->read("/k")).error().code, Code::not_found);
  EXPECT_THAT(asked_,
              ElementsAre(R"(/v3/kv/range {"key":"L2s=","range_end":"L2w=","keys_only":true})",
                          R"(/v3/kv/range {"key":"L2s="})",
                          R"(/v3/kv/range {"key":"L2s=","range_end":"L2w=","keys_only":true})",
                          R"(/v3/kv/range {"key":"L2s="})"));
}

TEST_F(EtcdClientTest, says_what_etcd_answered) {
  status_ = 400;
  answer_ = R"({"error":"etcdserver: too many operations in txn request","code":3})";
  auto refused = run_to_end(loop_, client_->put({{.key = "k", .value = "v"}}, 0));
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("too many operations"));
  status_ = 200;
  answer_ = "no JSON";
  EXPECT_FALSE(run_to_end(loop_, client_->list_prefix("k")));
  EXPECT_FALSE(run_to_end(loop_, client_->grant_lease(std::chrono::seconds(1))));
  EXPECT_FALSE(EtcdClient::create(loop_.executor(), {.endpoints = {}, .tls = {}}));
}

}  // namespace
}  // namespace plim::kube
