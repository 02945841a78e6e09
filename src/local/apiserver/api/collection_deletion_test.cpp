#include "local/apiserver/api/collection_deletion.hpp"

#include <atomic>
#include <set>

#include <gtest/gtest.h>

#include "base/testing/temp_dir.hpp"
#include "kube/object.hpp"
#include "local/apiserver/testing/api_fixture.hpp"

namespace plim::local::apiserver::testing {
namespace {

constexpr std::string_view kMaps = "/api/v1/namespaces/default/configmaps";

class CollectionDeletionTest : public ApiTest {
 protected:
  void make_maps(int count) {
    for (int i = 0; i < count; ++i) {
      const std::string group = i % 2 == 0 ? "even" : "odd";
      json::value map{
          {"metadata", {{"name", fmt::format("m-{:04}", i)}, {"labels", {{"n", group}}}}}};
      ASSERT_EQ(send("POST", kMaps, to_json(map)).status, 201);
    }
  }

  std::set<std::string> names(const net::Response& list) {
    std::set<std::string> out;
    const json::value all = parsed(list.body);
    for (const json::value& item : all.at("items").as_array()) out.emplace(kube::name_of(item));
    return out;
  }
};

// Rejects the deletion of one object.
class Guard final : public AdmissionStep {
 public:
  explicit Guard(std::string name) : name_(std::move(name)) {}

  bool attends(const Kind& /*kind*/) override { return true; }

  Task<ApiResult<void>> admit(AdmissionPtr admission) override {
    if (kube::name_of(admission->before) == name_) co_return bad_request("it stays");
    co_return ApiResult<void>();
  }

 private:
  std::string name_;
};

TEST_F(CollectionDeletionTest, deletes_more_objects_than_workers_and_answers_in_order) {
  make_maps(300);
  const net::Response answer = send("DELETE", kMaps);
  ASSERT_EQ(answer.status, 200) << answer.body;
  const json::value list = parsed(answer.body);
  const json::array& items = list.at("items").as_array();
  ASSERT_EQ(items.size(), 300u);
  for (std::size_t i = 0; i < items.size(); ++i)
    EXPECT_EQ(kube::name_of(items[i]), fmt::format("m-{:04}", i));
  EXPECT_TRUE(names(send("GET", kMaps)).empty());
}

TEST_F(CollectionDeletionTest, deletes_only_selected_objects_and_at_most_the_limit) {
  make_maps(10);
  const auto gone = names(send("DELETE", std::string(kMaps) + "?labelSelector=n%3Deven&limit=3"));
  EXPECT_EQ(gone, (std::set<std::string>{"m-0000", "m-0002", "m-0004"}));
  EXPECT_EQ(names(send("GET", kMaps)).size(), 7u);
}

TEST_F(CollectionDeletionTest, the_first_failure_is_the_answer_and_nothing_is_undone) {
  make_maps(300);
  server->hooks().validating.push_back(std::make_shared<Guard>("m-0005"));
  const net::Response answer = send("DELETE", kMaps);
  EXPECT_EQ(answer.status, 400) << answer.body;
  const auto left = names(send("GET", kMaps));
  EXPECT_TRUE(left.contains("m-0005"));
  EXPECT_FALSE(left.contains("m-0001")) << "its deletion was under way";
  EXPECT_TRUE(left.contains("m-0299")) << "no deletion starts after a failure";
}

TEST_F(CollectionDeletionTest, a_dry_run_deletes_nothing) {
  make_maps(3);
  const net::Response answer = send("DELETE", std::string(kMaps) + "?dryRun=All");
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(names(answer).size(), 3u);
  EXPECT_EQ(names(send("GET", kMaps)).size(), 3u);
}

// Every sync of the disk takes milliseconds, so the deletions must share them.
TEST(CollectionDeletion, objects_share_the_syncs_of_the_log) {
  plim::testing::TempDir directory;
  Loop loop;
  FakeClock clock;
  std::atomic<int> syncs = 0;
  std::atomic<bool> disk_works = true;
  store::StoreOptions options{.directory = directory.path() + "/store"};
  options.sync = [&](int) {
    disk_works.wait(false);
    return ++syncs, 0;
  };
  auto store = store::Store::open(loop.executor(), clock, options);
  ASSERT_TRUE(store) << store.error().message;
  auto server = ApiServer::create(loop.executor(), clock, **store, {});
  ASSERT_TRUE(server);
  ASSERT_TRUE(run_to_end(loop, (*server)->start()));
  auto client = (*server)->client({.name = "admin", .groups = {"system:masters"}});
  for (int i = 0; i < 100; ++i) {
    json::value map{{"metadata", {{"name", fmt::format("m-{}", i)}}}};
    auto made =
        run_to_end(loop, client->create(kube::resources::config_maps, {"default", ""}, map));
    ASSERT_TRUE(made) << made.error().message;
  }

  syncs = 0;
  disk_works = false;
  auto repair = [&] {
    disk_works = true;
    disk_works.notify_all();
  };
  // Posted twice, so that it runs after the start of the request, which is queued in between.
  post_to(loop.executor(), [&] { post_to(loop.executor(), repair); });
  auto gone =
      run_to_end(loop, client->remove_collection(kube::resources::config_maps, {.ns = "default"}));
  ASSERT_TRUE(gone) << gone.error().message;
  EXPECT_EQ(gone->at("items").as_array().size(), 100u);
  EXPECT_LE(syncs, 3);
  run_to_end(loop, (*server)->stop());
  run_to_end(loop, (*store)->close());
}

}  // namespace
}  // namespace plim::local::apiserver::testing
