#include "loop/image_annotation.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "base/base64.hpp"

namespace plim::loop {
namespace {

ImageInventory of_names(std::size_t count) {
  ImageInventory out;
  for (std::size_t i = 0; i < count; ++i)
    out.images.push_back({.id = fmt::format("sha256:{}", i),
                          .size = static_cast<std::int64_t>(i * 1024),
                          .names = {fmt::format("docker.io/library/i{}:latest", i)}});
  return out;
}

const ImageInventory::Image* find_name(const ImageInventory& inventory, std::string_view name) {
  const std::string hashed = hashed_image_name(name);
  for (const ImageInventory::Image& image : inventory.images)
    if (image.names.front() == hashed) return &image;
  return nullptr;
}

TEST(ImageAnnotation, matches_the_reference_hash) {
  EXPECT_EQ(xxh64(""), 0xEF46DB3751D8E999U);
  EXPECT_EQ(xxh64("a"), 0xD24EC4F1A98C6E5BU);
  EXPECT_EQ(xxh64("abc"), 0x44BC2CF5AD770999U);
  EXPECT_EQ(hashed_image_name("abc"), "xxh64:44bc2cf5ad770999");
}

TEST(ImageAnnotation, contains_names_and_sizes) {
  auto read = images_from_annotation(annotate_images(of_names(60)));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->images.size(), 60U);
  const auto* found = find_name(*read, "docker.io/library/i59:latest");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->size, 59 * 1024);
  EXPECT_EQ(find_name(*read, "docker.io/library/other:latest"), nullptr);
}

TEST(ImageAnnotation, omits_the_smallest_images_when_there_are_too_many) {
  const std::string text = annotate_images(of_names(4000));
  EXPECT_LE(text.size(), kLongestImagesAnnotation);
  EXPECT_GT(text.size(), kLongestImagesAnnotation * 9 / 10);
  auto read = images_from_annotation(text);
  EXPECT_NE(find_name(*read, "docker.io/library/i3999:latest"), nullptr);
  EXPECT_EQ(find_name(*read, "docker.io/library/i0:latest"), nullptr);
}

TEST(ImageAnnotation, is_the_same_for_the_same_images) {
  ImageInventory one = of_names(10), other = one;
  std::ranges::reverse(other.images);
  other.generation = 9;
  EXPECT_EQ(annotate_images(one), annotate_images(other));
  EXPECT_TRUE(images_from_annotation(annotate_images({}))->images.empty());
}

TEST(ImageAnnotation, rejects_invalid_text) {
  EXPECT_FALSE(images_from_annotation(""));
  EXPECT_FALSE(images_from_annotation("%%%"));
  EXPECT_FALSE(images_from_annotation(base64_encode("no zstd at all")));
  std::string cut = *base64_decode(annotate_images(of_names(5)));
  cut.resize(cut.size() / 2);
  EXPECT_FALSE(images_from_annotation(base64_encode(cut)));
}

}  // namespace
}  // namespace plim::loop
