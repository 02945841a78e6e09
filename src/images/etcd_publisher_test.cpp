// Inventories in an etcd that forgets a key when its lease has expired.
#include <map>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/loop.hpp"
#include "images/publisher.hpp"

namespace plim::images {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

class LeasedKeys final : public kube::EtcdClient {
 public:
  struct Value {
    std::string text;
    std::int64_t lease = 0;
  };

  explicit LeasedKeys(Clock& clock) : clock_(clock) {}

  Task<Result<std::int64_t>> grant_lease(std::chrono::seconds life) override {
    ++granted;
    ends_[granted] = clock_.steady() + life;
    life_ = life;
    co_return granted;
  }

  Task<Result<std::chrono::seconds>> keep_lease(std::int64_t lease) override {
    expire();
    if (!ends_.contains(lease)) co_return std::chrono::seconds(0);
    ends_[lease] = clock_.steady() + life_;
    co_return life_;
  }

  Task<Result<void>> put(std::vector<kube::EtcdPut> puts, std::int64_t lease) override {
    expire();
    if (away) co_return fail(Code::unavailable, "away");
    if (puts.size() > 128) co_return fail(Code::invalid, "too many operations in txn request");
    if (lease != 0 && !ends_.contains(lease))
      co_return fail(Code::not_found, "requested lease not found");
    for (kube::EtcdPut& one : puts) {
      keys[one.key] = {std::move(one.value), lease};
      ++written[one.key];
    }
    co_return Result<void>();
  }

  Task<Result<std::vector<kube::EtcdKey>>> list_prefix(std::string) override {
    co_return fail(Code::unimplemented, "not part of this test");
  }

  Task<Result<std::string>> read(std::string) override {
    co_return fail(Code::unimplemented, "not part of this test");
  }

  void expire() {
    std::erase_if(ends_, [&](const auto& lease) { return lease.second <= clock_.steady(); });
    std::erase_if(keys, [&](const auto& key) {
      return key.second.lease != 0 && !ends_.contains(key.second.lease);
    });
  }

  std::map<std::string, Value> keys;
  std::map<std::string, int> written;  // how often each key was put
  std::int64_t granted = 0;
  bool away = false;

 private:
  Clock& clock_;
  std::chrono::seconds life_{};
  std::map<std::int64_t, SteadyTime> ends_;
};

class EtcdPublisherTest : public ::testing::Test {
 protected:
  EtcdPublisherTest() {
    add_layer("sha256:a", 10);
    add_layer("sha256:b", 20);
    inventory_.images = {
        {.id = "sha256:1", .size = 30, .names = {"docker.io/library/busybox:1"}, .layers = {0, 1}}};
  }

  void add_layer(std::string digest, std::int64_t size) {
    inventory_.layers.push_back({.digest = std::move(digest), .size = size});
  }

  bool publish() { return run_to_end(loop_, publisher_->publish(inventory_)).has_value(); }

  std::string at(const std::string& key) {
    etcd_->expire();
    return etcd_->keys.contains(key) ? etcd_->keys[key].text : "";
  }

  static constexpr const char* kNode = "/plimsoll/images/v1/c/n1";
  static constexpr const char* kLayerA = "/plimsoll/layers/v1/sha256:a";

  Loop loop_;
  FakeClock clock_;
  std::shared_ptr<LeasedKeys> etcd_ = std::make_shared<LeasedKeys>(clock_);
  std::unique_ptr<Publisher> publisher_ =
      publish_to_etcd(etcd_, {.cluster = "c", .node = "n1", .lease = 900s});
  loop::ImageInventory inventory_;
};

TEST_F(EtcdPublisherTest, puts_the_inventory_and_the_size_of_each_layer) {
  ASSERT_TRUE(publish());
  EXPECT_THAT(at(kNode), HasSubstr("docker.io/library/busybox:1"));
  EXPECT_EQ(at(kLayerA), "10");
  EXPECT_EQ(at("/plimsoll/layers/v1/sha256:b"), "20");
}

TEST_F(EtcdPublisherTest, puts_a_layer_once_and_the_inventory_every_time) {
  ASSERT_TRUE(publish());
  ASSERT_TRUE(publish());
  EXPECT_EQ(etcd_->written[kNode], 2);
  EXPECT_EQ(etcd_->written[kLayerA], 1);
}

TEST_F(EtcdPublisherTest, leaves_nothing_behind_when_it_no_longer_publishes) {
  ASSERT_TRUE(publish());
  clock_.advance(900s);
  etcd_->expire();
  EXPECT_TRUE(etcd_->keys.empty());
}

TEST_F(EtcdPublisherTest, renews_its_lease) {
  for (int i = 0; i < 10; ++i) {
    ASSERT_TRUE(publish());
    clock_.advance(8min);
    EXPECT_NE(at(kNode), "");
    EXPECT_NE(at(kLayerA), "");
  }
  EXPECT_EQ(etcd_->granted, 1);
}

TEST_F(EtcdPublisherTest, puts_everything_again_after_its_lease_has_expired) {
  ASSERT_TRUE(publish());
  clock_.advance(1h);
  ASSERT_TRUE(publish());
  EXPECT_NE(at(kNode), "");
  EXPECT_EQ(at(kLayerA), "10");
  EXPECT_EQ(etcd_->granted, 2);
}

TEST_F(EtcdPublisherTest, puts_again_what_could_not_be_put) {
  etcd_->away = true;
  EXPECT_FALSE(publish());
  etcd_->away = false;
  ASSERT_TRUE(publish());
  EXPECT_EQ(at(kLayerA), "10");
}

TEST_F(EtcdPublisherTest, puts_many_layers_in_several_transactions) {
  for (int i = 0; i < 300; ++i) add_layer(fmt::format("sha256:{}", i), i);
  ASSERT_TRUE(publish());
  EXPECT_EQ(etcd_->keys.size(), 1u + 302u);
  EXPECT_EQ(at("/plimsoll/layers/v1/sha256:299"), "299");
}

}  // namespace
}  // namespace plim::images
