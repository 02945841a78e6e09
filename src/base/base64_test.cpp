#include "base/base64.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace plim {
namespace {

TEST(Base64, matches_the_examples_of_rfc_4648) {
  EXPECT_EQ(base64_encode(""), "");
  EXPECT_EQ(base64_encode("f"), "Zg==");
  EXPECT_EQ(base64_encode("fo"), "Zm8=");
  EXPECT_EQ(base64_encode("foobar"), "Zm9vYmFy");
  EXPECT_EQ(*base64_decode("Zm9v\nYg=="), "foob");
}

TEST(Base64, rejects_invalid_text_without_showing_it) {
  for (const char* bad : {"Z", "Zg", "Zg=", "Zg===", "=Zg=", "Zg==Zg==", "Zm9v!mFy", "Zm 9"})
    EXPECT_FALSE(base64_decode(bad)) << bad;
  EXPECT_EQ(base64_decode("secret*").error().message, "not base64 at character 7");
}

RC_GTEST_PROP(Base64, decodes_what_it_encodes, (const std::string& bytes)) {
  RC_ASSERT(*base64_decode(base64_encode(bytes)) == bytes);
}

}  // namespace
}  // namespace plim
