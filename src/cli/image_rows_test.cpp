#include "cli/image_rows.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/rfc3339.hpp"

namespace plim::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const json::value kNodes =
    json::parse(R"({"items":[
  {"metadata":{"name":"w1"},"status":{"images":[{"names":["busybox:1.36"],"sizeBytes":5}]}},
  {"metadata":{"name":"w2"},"status":{"images":[
    {"names":["docker.io/library/busybox@sha256:)" +
                std::string(64, 'a') + R"(","docker.io/library/busybox:latest"],
     "sizeBytes":771000}]}}]})");
const json::value kInventories = json::parse(R"({"items":[{"metadata":{"name":"w1"},"spec":{
  "runtime":"containerd://1.7","reportedAt":"2026-01-01T00:00:00Z",
  "images":[{"id":"sha256:0123456789abcdef","size":200,"names":["docker.io/library/x:1","docker.io/library/x:2"],
             "layers":[0,1]},
            {"id":"sha256:fedcba9876543210","size":180,"names":[],"layers":[0]}],
  "layers":[{"d":"sha256:base","n":180},{"d":"sha256:own","n":20}],
  "pulling":[{"ref":"sha256:more","offset":5,"total":10}]}}]})");

ImageRows rows(std::string_view now, const ImageFilter& filter = {}) {
  return *image_rows(kNodes, kInventories, *parse_rfc3339(now), filter);
}

std::vector<std::string> words(const ImageRows& from) {
  std::vector<std::string> out;
  for (const ImageRow& row : from.images)
    out.push_back(fmt::format("{} {}:{} {} {} {}", row.node, row.image, row.tag, short_id(row.id),
                              image_size_text(row.size), row.source));
  return out;
}

TEST(ImageRows, come_from_fresh_inventories_else_from_the_nodes_status) {
  EXPECT_THAT(words(rows("2026-01-01T00:05:00Z")),
              ElementsAre("w1 <none>:<none> fedcba9876543 180B inventory",
                          "w1 docker.io/library/x:1 0123456789abc 200B inventory",
                          "w1 docker.io/library/x:2 0123456789abc 200B inventory",
                          "w2 docker.io/library/busybox:latest  771kB status"));
  const ImageRows old = rows("2026-01-01T00:11:00Z");
  EXPECT_THAT(words(old), ElementsAre("w1 docker.io/library/busybox:1.36  5B status",
                                      "w2 docker.io/library/busybox:latest  771kB status"));
  EXPECT_THAT(old.notes, ElementsAre(HasSubstr("node w1: it is 11m old")));
}

TEST(ImageRows, do_not_come_from_inventories_dated_far_ahead) {
  EXPECT_EQ(rows("2025-12-31T23:50:00Z").images[1].source, "inventory");
  EXPECT_EQ(rows("2025-12-31T23:50:00Z").images[1].age, std::chrono::seconds(0));
  const ImageRows ahead = rows("2025-12-31T23:49:59Z");
  EXPECT_EQ(ahead.images[0].source, "status");
  EXPECT_THAT(ahead.notes, ElementsAre(HasSubstr("node w1: its date is 10m in the future")));
}

TEST(ImageRows, say_what_is_left_out) {
  const auto noted = [](std::string_view inventory) {
    const json::value list = json::parse(fmt::format(R"({{"items":[{}]}})", inventory));
    return image_rows(kNodes, list, *parse_rfc3339("2026-01-01T00:05:00Z"), {})->notes;
  };
  EXPECT_THAT(noted(R"({"metadata":{"name":"w9"},"spec":{}})"),
              ElementsAre("there is an inventory of node w9, but the node does not exist"));
  EXPECT_THAT(noted(R"({"metadata":{"name":"w1"},"spec":{"images":[{"size":5}]}})"),
              ElementsAre(HasSubstr("node w1: images[0]: an image needs an id")));
  EXPECT_THAT(noted(R"({"metadata":{"name":"w1"},"spec":
                        {"reportedAt":"2026-01-01T00:00:00Z","truncated":true}})"),
              ElementsAre(HasSubstr("node w1 is truncated")));
}

TEST(ImageRows, are_ordered_by_node) {
  const json::value nodes = json::parse(R"({"items":[
    {"metadata":{"name":"w2"},"status":{"images":[{"names":["a"]}]}},
    {"metadata":{"name":"w"},"status":{"images":[{"names":["b"]},{"names":["a"]}]}}]})");
  EXPECT_THAT(words(*image_rows(nodes, {}, WallTime(), {})),
              ElementsAre("w docker.io/library/a:latest  0B status",
                          "w docker.io/library/b:latest  0B status",
                          "w2 docker.io/library/a:latest  0B status"));
}

TEST(ImageRows, show_which_layers_are_shared_and_which_are_being_pulled) {
  const ImageRows found = rows("2026-01-01T00:05:00Z");
  EXPECT_EQ(found.images[1].shared, 180);
  ASSERT_EQ(found.layers.size(), 3U);
  EXPECT_THAT(found.layers[0].images, ElementsAre("<none>", "docker.io/library/x:1"));
  EXPECT_EQ(found.layers[2].fetched, 5);
  EXPECT_EQ(found.images[1].age, std::chrono::minutes(5));
}

TEST(ImageRows, are_chosen_by_node_and_by_any_spelling_of_the_image) {
  const auto named = [](std::string image) {
    return words(rows("2026-01-01T00:05:00Z", {.node = "", .image = std::move(image)})).size();
  };
  EXPECT_EQ(named("busybox"), 1U);
  EXPECT_EQ(named("library/busybox:latest"), 1U);
  EXPECT_EQ(named("busybox:1.36"), 0U);
  EXPECT_EQ(named("index.docker.io/busybox@sha256:" + std::string(64, 'a')), 1U);
  EXPECT_EQ(named("x"), 2U);
  EXPECT_EQ(named("fedcba98"), 1U);
  EXPECT_EQ(named("busy"), 0U);
  EXPECT_EQ(words(rows("2026-01-01T00:05:00Z", {.node = "w2", .image = ""})).size(), 1U);
  EXPECT_FALSE(image_rows(kNodes, kInventories, WallTime(), {.node = "", .image = "No Such"}));
}

TEST(ImageRows, print_sizes_as_crictl_does) {
  EXPECT_EQ(image_size_text(0), "0B");
  EXPECT_EQ(image_size_text(771'000), "771kB");
  EXPECT_EQ(image_size_text(54'000'000), "54MB");
  EXPECT_EQ(image_size_text(86'700'000), "86.7MB");
  EXPECT_EQ(image_size_text(1'240'000'000), "1.24GB");
  EXPECT_EQ(image_size_text(999'900), "1MB");
}

}  // namespace
}  // namespace plim::cli
