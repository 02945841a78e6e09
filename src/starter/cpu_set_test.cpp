#include "starter/cpu_set.h"

#include <string>

#include <gtest/gtest.h>

namespace {

std::string ranges(const CpuSet& set) {
  char text[64];
  cpu_print_ranges(&set, text, sizeof text);
  return text;
}

TEST(StarterCpuSet, reads_lists_and_ranges_and_prints_both) {
  CpuSet set{};
  ASSERT_TRUE(cpu_parse(&set, " 4,5 , 7-9,8191\n"));
  EXPECT_EQ(cpu_count(&set), 6U);
  EXPECT_EQ(ranges(set), "4-5,7-9,8191");
  std::string list(cpu_print_list(&set, nullptr), ' ');
  EXPECT_EQ(cpu_print_list(&set, list.data()), list.size());
  EXPECT_EQ(list, "4,5,7,8,9,8191");
}

TEST(StarterCpuSet, refuses_what_is_no_list) {
  for (const char* text :
       {"a", "1,", ",1", "1,,2", "3-1", "-1", "1-", "8192", "99999999999", "0-8:2", "1 2"}) {
    CpuSet set{};
    EXPECT_FALSE(cpu_parse(&set, text)) << text;
  }
  CpuSet set{};
  EXPECT_TRUE(cpu_parse(&set, "\n"));
  EXPECT_EQ(cpu_count(&set), 0U);
}

TEST(StarterCpuSet, cuts_what_does_not_fit) {
  CpuSet set{};
  ASSERT_TRUE(cpu_parse(&set, "100,102,104"));
  char text[8];
  cpu_print_ranges(&set, text, sizeof text);
  EXPECT_STREQ(text, "100,102");
}

}  // namespace
