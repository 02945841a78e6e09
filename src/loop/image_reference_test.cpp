#include "loop/image_reference.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "base/testing/json_gen.hpp"

namespace plim::loop {
namespace {

using ::testing::HasSubstr;

const std::string kDigest = "sha256:" + std::string(64, 'a');

std::string canonical(std::string_view text) {
  auto parsed = ImageReference::parse(text);
  return parsed ? parsed->to_string() : "refused: " + parsed.error().message;
}

TEST(ImageReference, gives_all_forms_of_a_docker_image_one_name) {
  for (const char* text :
       {"busybox", "library/busybox", "busybox:latest", "docker.io/busybox:latest",
        "docker.io/library/busybox", "index.docker.io/library/busybox", "Docker.IO/busybox",
        "index.docker.io/busybox"})
    EXPECT_EQ(canonical(text), "docker.io/library/busybox:latest") << text;
  EXPECT_EQ(canonical("bitnami/redis:7"), "docker.io/bitnami/redis:7");
}

TEST(ImageReference, keeps_other_registries) {
  EXPECT_EQ(canonical("localhost/x"), "localhost/x:latest");
  EXPECT_EQ(canonical("reg:5000/x"), "reg:5000/x:latest");
  EXPECT_EQ(canonical("reg:5000/x:1"), "reg:5000/x:1");
  EXPECT_EQ(canonical("reg.example/team/x:1"), "reg.example/team/x:1");
  EXPECT_EQ(canonical("[::1]:5000/x"), "[::1]:5000/x:latest");
  // One component with a dot is a repository, not a registry.
  EXPECT_EQ(canonical("my.app"), "docker.io/library/my.app:latest");
}

TEST(ImageReference, separates_digest_and_tag) {
  const auto both = *ImageReference::parse("busybox:1.36@" + kDigest);
  EXPECT_EQ(both.tagged(), "docker.io/library/busybox:1.36");
  EXPECT_EQ(both.pinned(), "docker.io/library/busybox@" + kDigest);
  const auto pinned = *ImageReference::parse("reg:5000/x@" + kDigest);
  EXPECT_EQ(pinned.tagged(), "");
  EXPECT_EQ(pinned.to_string(), "reg:5000/x@" + kDigest);
  EXPECT_EQ(ImageReference::parse("busybox")->pinned(), "");
}

TEST(ImageReference, rejects_what_no_registry_accepts) {
  for (const char* text : {"",
                           "/",
                           ":",
                           "@",
                           "a/",
                           "a//b",
                           "Busy",
                           "a:",
                           "a:-1",
                           "a b",
                           "reg.x/",
                           "<none>:<none>",
                           "a@sha256:xyz",
                           "a@sha256:",
                           "-a",
                           "a-",
                           "docker.io/",
                           "re g.x/a",
                           ":tag",
                           "a/:b"})
    EXPECT_THAT(canonical(text), HasSubstr("refused: image ")) << text;
  EXPECT_THAT(canonical(std::string(300, 'a')), HasSubstr("too long"));
  EXPECT_THAT(canonical("a:" + std::string(129, 't')), HasSubstr("bad tag"));
}

TEST(ImageReference, recognizes_digests_and_ids) {
  EXPECT_TRUE(is_image_digest(kDigest));
  EXPECT_FALSE(is_image_digest("sha256:" + std::string(64, 'A')));
  EXPECT_FALSE(is_image_digest(std::string(64, 'a')));
  EXPECT_EQ(canonical_image_id(std::string(64, 'a')), kDigest);
  EXPECT_EQ(canonical_image_id(kDigest), kDigest);
  EXPECT_EQ(canonical_image_id("odd"), "odd");
}

RC_GTEST_PROP(ImageReference, a_canonical_name_stays_as_it_is, ()) {
  const auto word = rc::gen::container<std::string>(rc::gen::elementOf(std::string("ab1.:/@-_L")));
  auto parsed = ImageReference::parse(*rc::gen::oneOf(word, plim::testing::awkward_text()));
  if (!parsed) return;
  auto again = ImageReference::parse(parsed->to_string());
  RC_ASSERT(again.has_value());
  RC_ASSERT(*again == *parsed);
}

}  // namespace
}  // namespace plim::loop
