#include "images/collector.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/loop.hpp"
#include "base/testing/temp_dir.hpp"
#include "images/testing/fake_runtime.hpp"

namespace plim::images {
namespace {

using namespace std::chrono_literals;
using loop::ImageInventory;
using ::testing::ElementsAre;

const std::string kBaseLayer = "sha256:" + std::string(64, 'b');
const std::string kOwnLayer = "sha256:" + std::string(64, 'c');

class CollectorTest : public ::testing::Test {
 protected:
  CollectorTest() {
    runtime_.images = {
        {.id = "sha256:x", .tags = {"docker.io/library/x:1"}, .digests = {}, .size = 200},
        {.id = "sha256:base", .tags = {"base"}, .digests = {}, .size = 180, .pinned = true}};
    runtime_.content = {
        {.digest = "sha256:mx", .size = 1, .config = "sha256:x", .layers = {kBaseLayer, kOwnLayer}},
        {.digest = "sha256:mb", .size = 1, .config = "sha256:base", .layers = {kBaseLayer}},
        {.digest = kBaseLayer, .size = 180},
        {.digest = kOwnLayer, .size = 20}};
  }

  ~CollectorTest() override { run_to_end(loop_, runtime_.stop()); }

  Result<Collector::Look> look() { return run_to_end(loop_, collector_.look()); }

  plim::testing::TempDir dir_;
  Loop loop_;
  testing::FakeRuntime runtime_{loop_.executor(), dir_ / "cri.sock"};
  Runtime asked_{loop_.executor(), dir_ / "cri.sock"};
  Collector collector_{asked_};
};

TEST_F(CollectorTest, finds_images_with_the_layers_they_share) {
  runtime_.start();
  auto seen = look();
  ASSERT_TRUE(seen) << seen.error().message;
  EXPECT_TRUE(seen->changed);
  const ImageInventory& found = collector_.inventory();
  EXPECT_EQ(found.runtime, "containerd://1.7.28");
  ASSERT_EQ(found.images.size(), 2U);
  EXPECT_EQ(found.images[0].id, "sha256:base");
  EXPECT_TRUE(found.images[0].pinned);
  EXPECT_THAT(found.images[0].names, ElementsAre("docker.io/library/base:latest"));
  EXPECT_THAT(found.images[0].layers, ElementsAre(0));
  EXPECT_THAT(found.images[1].layers, ElementsAre(0, 1));
  ASSERT_EQ(found.layers.size(), 2U);
  EXPECT_EQ(found.layers[0].size, 180);
  EXPECT_EQ(found.layers[1].digest, kOwnLayer);
}

TEST_F(CollectorTest, reads_layers_only_of_new_images) {
  runtime_.start();
  ASSERT_TRUE(look());
  auto again = look();
  EXPECT_FALSE(again->changed);
  EXPECT_EQ(runtime_.asked["List"], 1);
  // The order of a runtime's list does not matter; a lost tag does.
  std::swap(runtime_.images[0], runtime_.images[1]);
  EXPECT_FALSE(look()->changed);
  runtime_.images[0].tags.clear();
  EXPECT_TRUE(look()->changed);
  EXPECT_EQ(runtime_.asked["List"], 1);
  runtime_.images.push_back({.id = "sha256:new", .tags = {}, .digests = {}, .size = 1});
  EXPECT_TRUE(look()->changed);
  EXPECT_EQ(runtime_.asked["List"], 2);
}

TEST_F(CollectorTest, reads_manifests_if_layers_were_discarded) {
  runtime_.content = {{.digest = "sha256:mx", .size = 1, .config = "sha256:x"}};
  runtime_.manifests["sha256:mx"] = R"({"layers":[{"digest":"sha256:l1","size":70},)"
                                    R"({"digest":"sha256:l2","size":30}]})";
  runtime_.images.pop_back();
  runtime_.start();
  ASSERT_TRUE(look());
  EXPECT_THAT(collector_.inventory().layers, ElementsAre(ImageInventory::Layer{"sha256:l1", 70},
                                                         ImageInventory::Layer{"sha256:l2", 30}));
}

TEST_F(CollectorTest, splits_images_evenly_if_only_diff_ids_are_known) {
  runtime_.has_content = false;
  runtime_.infos[""] = R"({"imageSpec":{"rootfs":{"diff_ids":["sha256:d1","sha256:d2"]}}})";
  runtime_.images = {{.id = std::string(64, '1'), .tags = {}, .digests = {}, .size = 201}};
  runtime_.start();
  ASSERT_TRUE(look());
  EXPECT_EQ(collector_.inventory().images[0].id, "sha256:" + std::string(64, '1'));
  EXPECT_THAT(collector_.inventory().layers, ElementsAre(ImageInventory::Layer{"sha256:d1", 100},
                                                         ImageInventory::Layer{"sha256:d2", 101}));
  EXPECT_FALSE(look()->changed);
}

TEST_F(CollectorTest, retries_layers_that_could_not_be_read) {
  runtime_.content_is_broken = true;
  runtime_.infos[""] = R"({"imageSpec":{"rootfs":{"diff_ids":["sha256:d1","sha256:d2"]}}})";
  runtime_.start();
  auto seen = look();
  ASSERT_TRUE(seen) << seen.error().message;
  EXPECT_TRUE(seen->changed);
  EXPECT_EQ(collector_.inventory().images.size(), 2U);
  EXPECT_TRUE(collector_.inventory().layers.empty());
  EXPECT_FALSE(look()->changed);
  runtime_.content_is_broken = false;
  EXPECT_TRUE(look()->changed);
  EXPECT_EQ(collector_.inventory().layers.size(), 2U);
  EXPECT_EQ(collector_.inventory().layers[0].digest, kBaseLayer);
  EXPECT_FALSE(look()->changed);
  EXPECT_EQ(runtime_.asked["List"], 3);
}

TEST_F(CollectorTest, shows_pulls_and_measures_them) {
  runtime_.start();
  ASSERT_TRUE(look());
  const WallTime began(1000s);
  const std::string layer = "sha256:" + std::string(64, 'd');
  runtime_.ingests = {{.ref = "layer-" + layer,
                       .offset = 50'000'000,
                       .total = 100'000'000,
                       .started = began,
                       .updated = began + 2s},
                      {.ref = "manifest-sha256:x", .offset = 0, .total = 10}};
  auto seen = look();
  EXPECT_TRUE(seen->changed && seen->pulling);
  EXPECT_THAT(collector_.inventory().pulling,
              ElementsAre(ImageInventory::Pull{layer, 50'000'000, 100'000'000}));
  EXPECT_EQ(collector_.inventory().bandwidth, 25'000'000);
  EXPECT_FALSE(look()->changed);
  runtime_.ingests.clear();
  EXPECT_TRUE(look()->changed);
  EXPECT_TRUE(collector_.inventory().pulling.empty());
}

TEST_F(CollectorTest, survives_restarts_of_the_runtime) {
  EXPECT_EQ(look().error().code, Code::unavailable);
  runtime_.start();
  ASSERT_TRUE(look());
  for (int i = 0; i < 2; ++i) {
    run_to_end(loop_, runtime_.stop());
    EXPECT_FALSE(look());
    EXPECT_EQ(collector_.inventory().images.size(), 2U);
    runtime_.start();
    auto seen = look();
    ASSERT_TRUE(seen) << seen.error().message;
    EXPECT_FALSE(seen->changed);
  }
  EXPECT_EQ(runtime_.asked["List"], 1);
}

}  // namespace
}  // namespace plim::images
