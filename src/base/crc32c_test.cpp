#include "base/crc32c.hpp"

#include <string>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace plim {
namespace {

TEST(Crc32c, matches_the_published_values) {
  // RFC 3720, B.4, and the usual check value.
  EXPECT_EQ(crc32c("123456789"), 0xE3069283u);
  EXPECT_EQ(crc32c(std::string(32, '\0')), 0x8A9136AAu);
  EXPECT_EQ(crc32c(std::string(32, '\xFF')), 0x62A8AB43u);
  EXPECT_EQ(crc32c(""), 0u);
}

RC_GTEST_PROP(Crc32c, table_and_instruction_agree, (std::string text, std::uint32_t before)) {
  if (!has_crc32c_instruction()) RC_DISCARD("this processor has no instruction for it");
  RC_ASSERT(crc32c_by_table(text, before) == crc32c(text, before));
}

RC_GTEST_PROP(Crc32c, of_two_parts_is_that_of_the_whole, (std::string a, std::string b)) {
  RC_ASSERT(crc32c(b, crc32c(a)) == crc32c(a + b));
  RC_ASSERT(crc32c_by_table(b, crc32c_by_table(a)) == crc32c_by_table(a + b));
}

}  // namespace
}  // namespace plim
