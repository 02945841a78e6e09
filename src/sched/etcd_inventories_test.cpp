#include "sched/etcd_inventories.hpp"

#include <map>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/loop.hpp"

namespace plim::sched {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;

// An etcd of a few keys that counts what is read from it.
class FewKeys final : public kube::EtcdClient {
 public:
  struct Value {
    std::string text;
    std::int64_t revision = 0;
  };

  Task<Result<std::int64_t>> grant_lease(std::chrono::seconds) override {
    return refuse<std::int64_t>();
  }

  Task<Result<std::chrono::seconds>> keep_lease(std::int64_t) override {
    return refuse<std::chrono::seconds>();
  }

  Task<Result<void>> put(std::vector<kube::EtcdPut>, std::int64_t) override {
    return refuse<void>();
  }

  Task<Result<std::vector<kube::EtcdKey>>> list_prefix(std::string prefix) override {
    ++lists;
    if (away) co_return fail(Code::unavailable, "away");
    std::vector<kube::EtcdKey> out;
    for (const auto& [key, value] : values)
      if (key.starts_with(prefix)) out.push_back({.key = key, .revision = value.revision});
    co_return out;
  }

  Task<Result<std::string>> read(std::string key) override {
    reads.push_back(key.substr(key.rfind('/') + 1));
    const auto at = values.find(key);
    if (at == values.end()) co_return fail(Code::not_found, key);
    co_return at->second.text;
  }

  std::map<std::string, Value> values;
  std::vector<std::string> reads;
  int lists = 0;
  bool away = false;

 private:
  template <class T>
  Task<Result<T>> refuse() {
    co_return fail(Code::unimplemented, "not part of this test");
  }
};

class EtcdInventoriesTest : public ::testing::Test {
 protected:
  ~EtcdInventoriesTest() override { run_to_end(loop_, followed_.stop()); }

  void put(std::string_view node, std::string text, std::string_view cluster = "c") {
    etcd_->values[fmt::format("/plimsoll/images/v1/{}/{}", cluster, node)] = {std::move(text),
                                                                              ++revision_};
  }

  static std::string with_image(std::string_view name) {
    loop::ImageInventory out;
    out.images = {{.id = "sha256:1", .size = 1, .names = {std::string(name)}}};
    return to_json(loop::inventory_to_json(out));
  }

  // The next round, from beginning to end.
  void round() {
    const int lists = etcd_->lists;
    if (lists == 0)
      followed_.start();
    else
      clock_.advance(5s);
    auto wait = [](EtcdInventoriesTest* self, int before) -> Task<void> {
      while (self->etcd_->lists == before || self->clock_.sleepers() == 0) co_await yield_to_loop();
    };
    run_to_end(loop_, wait(this, lists));
  }

  Loop loop_;
  FakeClock clock_;
  std::int64_t revision_ = 0;
  std::shared_ptr<FewKeys> etcd_ = std::make_shared<FewKeys>();
  std::vector<std::string> told_;
  EtcdInventories followed_{
      loop_.executor(),
      {.client = etcd_, .cluster = "c"},
      [this](const std::string& node, const loop::ImageInventory* inventory) {
        told_.push_back(fmt::format(
            "{}: {}", node, inventory != nullptr ? inventory->images.at(0).names.at(0) : "none"));
      },
      clock_};
};

TEST_F(EtcdInventoriesTest, are_read_when_they_change_and_forgotten_with_their_keys) {
  put("n1", with_image("one"));
  put("n2", with_image("two"));
  put("n3", with_image("of others"), "another-cluster");
  round();
  EXPECT_THAT(told_, ElementsAre("n1: one", "n2: two"));
  round();
  EXPECT_EQ(told_.size(), 2U);
  EXPECT_EQ(etcd_->reads.size(), 2U);  // nothing changed, nothing is read
  put("n2", with_image("three"));
  etcd_->values.erase("/plimsoll/images/v1/c/n1");
  round();
  EXPECT_THAT(told_, ElementsAre("n1: one", "n2: two", "n1: none", "n2: three"));
  EXPECT_THAT(etcd_->reads, ElementsAre("n1", "n2", "n2"));
}

TEST_F(EtcdInventoriesTest, stay_while_etcd_is_not_reachable) {
  put("n1", with_image("one"));
  round();
  etcd_->away = true;
  round();
  etcd_->away = false;
  round();
  EXPECT_THAT(told_, ElementsAre("n1: one"));
}

TEST_F(EtcdInventoriesTest, that_are_invalid_count_as_none_and_are_not_read_again) {
  put("n1", with_image("one"));
  round();
  put("n1", "nonsense");
  round();
  round();
  EXPECT_THAT(told_, ElementsAre("n1: one", "n1: none"));
  EXPECT_EQ(etcd_->reads.size(), 2U);
}

}  // namespace
}  // namespace plim::sched
