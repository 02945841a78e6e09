#include "loop/image_inventory.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "base/rfc3339.hpp"

namespace plim::loop {
namespace {

using ::testing::HasSubstr;

ImageInventory shared_base() {
  ImageInventory out;
  out.runtime = "containerd://1.7.28";
  out.generation = 7;
  out.reported_at = *parse_rfc3339("2026-01-02T03:04:05Z");
  out.fs_used = 12;
  out.bandwidth = 50;
  out.layers = {{.digest = "sha256:base", .size = 180}, {.digest = "sha256:x", .size = 20}};
  out.images = {{.id = "sha256:1", .size = 200, .names = {"reg.x/x:1"}, .layers = {0, 1}},
                {.id = "sha256:2", .size = 180, .pinned = true, .layers = {0}}};
  out.pulling = {{.ref = "sha256:y", .offset = 5, .total = 10}};
  return out;
}

std::string refusal(std::string_view text) {
  auto read = inventory_from_json(*parse_json(text));
  return read ? "accepted" : read.error().message;
}

// Each image has one layer of its own; the first ones are the smallest.
ImageInventory many(std::size_t count) {
  ImageInventory out;
  for (std::size_t i = 0; i < count; ++i) {
    out.layers.push_back({.digest = fmt::format("sha256:{:064}", i), .size = 1});
    out.images.push_back({.id = fmt::format("sha256:{:064}", i),
                          .size = static_cast<std::int64_t>(i),
                          .layers = {static_cast<std::uint32_t>(i)}});
  }
  return out;
}

std::size_t bytes(const ImageInventory& inventory) {
  return to_json(inventory_to_json(inventory)).size();
}

TEST(ImageInventory, is_written_in_the_format_of_the_resource) {
  EXPECT_EQ(
      to_json(inventory_to_json(shared_base())),
      R"({"runtime":"containerd://1.7.28","generation":7,"reportedAt":"2026-01-02T03:04:05Z",)"
      R"("fs":{"usedBytes":12},"pullBandwidthBytesPerSecond":50,"images":[)"
      R"({"id":"sha256:1","size":200,"names":["reg.x/x:1"],"layers":[0,1]},)"
      R"({"id":"sha256:2","size":180,"pinned":true,"names":[],"layers":[0]}],)"
      R"("layers":[{"d":"sha256:base","n":180},{"d":"sha256:x","n":20}],)"
      R"("pulling":[{"ref":"sha256:y","offset":5,"total":10}]})");
}

TEST(ImageInventory, reads_what_it_wrote) {
  EXPECT_EQ(*inventory_from_json(inventory_to_json(shared_base())), shared_base());
}

TEST(ImageInventory, rejects_incomplete_lists) {
  EXPECT_EQ(refusal("[]"), "expected the spec of an image inventory");
  EXPECT_EQ(refusal(R"({"images":[{"size":1}]})"), "images[0]: an image needs an id");
  EXPECT_EQ(refusal(R"({"images":[{"id":"a","layers":[0]}]})"),
            "images[0]: layers: 0 is not in the table");
  EXPECT_EQ(refusal(R"({"images":[{"id":"a","size":-1}]})"),
            "images[0]: size: expected a number of bytes");
  EXPECT_EQ(refusal(R"({"layers":[{"d":"a"},{"n":1}]})"), "layers[1]: a layer needs a digest");
  EXPECT_THAT(refusal(R"({"pulling":[{"ref":"a","offset":"b"}]})"), HasSubstr("pulling[0]"));
  EXPECT_EQ(refusal(R"({"images":null,"layers":3,"more":1})"), "accepted");
}

std::string zeros(std::size_t count) {
  std::string out = "0";
  for (std::size_t i = 1; i < count; ++i) out += ",0";
  return out;
}

TEST(ImageInventory, rejects_too_many_layers_and_pulls) {
  const auto layers = [](std::size_t count) {
    return fmt::format(R"({{"layers":[{{"d":"a"}}],"images":[{{"id":"a","layers":[{}]}}]}})",
                       zeros(count));
  };
  EXPECT_EQ(refusal(layers(500)), "accepted");
  EXPECT_EQ(refusal(layers(501)),
            "images[0]: layers: 501 are more than 500, the limit of an image");
  EXPECT_EQ(refusal(fmt::format(R"({{"pulling":[{}]}})", zeros(501))),
            "pulling: 501 at once are more than 500, the limit of a node");
  EXPECT_EQ(refusal(R"({"layers":[{"d":"a","n":1125899906842624}]})"), "accepted");
  EXPECT_EQ(refusal(R"({"layers":[{"d":"a","n":1125899906842625}]})"),
            "layers[0]: n: expected a number of bytes");
}

TEST(ImageInventory, drops_the_layers_of_the_smallest_images_when_it_is_too_large) {
  const ImageInventory whole = many(100);
  EXPECT_EQ(fitting_inventory(whole), whole);
  const ImageInventory cut = fitting_inventory(whole, bytes(whole) - 500);
  EXPECT_TRUE(cut.truncated);
  EXPECT_LE(bytes(cut), bytes(whole) - 500);
  EXPECT_EQ(cut.images.size(), 100U);
  EXPECT_TRUE(cut.images.front().layers.empty());
  ASSERT_EQ(cut.images.back().layers.size(), 1U);
  EXPECT_EQ(cut.layers[cut.images.back().layers[0]].digest, whole.layers.back().digest);
  EXPECT_LT(cut.layers.size(), 100U);
  EXPECT_GT(cut.layers.size(), 90U);
}

TEST(ImageInventory, drops_images_when_even_their_names_are_too_many) {
  const ImageInventory cut = fitting_inventory(many(100), 2000);
  EXPECT_LE(bytes(cut), 2000U);
  EXPECT_FALSE(cut.images.empty());
  EXPECT_EQ(cut.images.back().size, 99);
}

RC_GTEST_PROP(ImageInventory, what_fits_reads_back, ()) {
  const ImageInventory whole = many(*rc::gen::inRange<std::size_t>(0, 40));
  const auto limit = *rc::gen::inRange<std::size_t>(200, 10000);
  const ImageInventory cut = fitting_inventory(whole, limit);
  RC_ASSERT(bytes(cut) <= limit);
  RC_ASSERT(*inventory_from_json(inventory_to_json(cut)) == cut);
  RC_ASSERT(cut.truncated == (cut != whole));
}

}  // namespace
}  // namespace plim::loop
