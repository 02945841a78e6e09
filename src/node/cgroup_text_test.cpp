#include "node/cgroup_text.hpp"

#include <array>

#include <gtest/gtest.h>

namespace plim::node {
namespace {

TEST(CgroupText, finds_only_whole_keys) {
  constexpr std::string_view kStat = "\ntotal_pgfault 5\npgfault 77\npgfaults 9\n";
  EXPECT_EQ(value_of_key(kStat, "pgfault"), 77U);
  EXPECT_EQ(value_of_key(kStat, "fault"), std::nullopt);
  EXPECT_EQ(value_of_key(kStat, "pgfaultx"), std::nullopt);
}

TEST(CgroupText, ignores_broken_text) {
  for (std::string_view text : {"", "\n", "\npgfault", "\npgfault ", "\npgfault x", "\n-3",
                                "\npgfault 99999999999999999999999"})
    EXPECT_EQ(value_of_key(text, "pgfault"), std::nullopt) << text;
  EXPECT_EQ(leading_number("\n  \n"), std::nullopt);
  EXPECT_EQ(leading_number("\n42\n"), 42U);
}

TEST(CgroupText, reads_totals_of_pressure) {
  constexpr std::string_view kText =
      "\nsome avg10=1.00 avg60=0.50 avg300=0.10 total=123\nfull avg10=0.00 total=45\n";
  EXPECT_EQ(pressure_total(kText, "some"), 123U);
  EXPECT_EQ(pressure_total(kText, "full"), 45U);
  EXPECT_EQ(pressure_total("\nsome avg10=0.00\n", "some"), std::nullopt);
}

TEST(CgroupText, prefers_the_hierarchical_line_of_version_1) {
  std::array<std::uint64_t, 4> pages{};
  EXPECT_EQ(
      numa_pages_v1("\ntotal=3 N0=1 N1=2\nfile=9 N0=9\nhierarchical_total=7 N0=3 N1=4\n", pages),
      2U);
  EXPECT_EQ(pages[0], 3U);
  EXPECT_EQ(pages[1], 4U);
  EXPECT_EQ(numa_pages_v1("\ntotal=3 N0=1 N1=2\n", pages), 2U);
  EXPECT_EQ(pages[1], 2U);
}

TEST(CgroupText, adds_up_the_lists_of_version_2) {
  std::array<std::uint64_t, 4> bytes{};
  EXPECT_EQ(numa_bytes_v2("\nanon N0=5\ninactive_anon N0=1 N2=2\nactive_file N0=10\nshmem N0=99\n",
                          bytes),
            3U);
  EXPECT_EQ(bytes[0], 11U);
  EXPECT_EQ(bytes[1], 0U);
  EXPECT_EQ(bytes[2], 2U);
}

TEST(CgroupText, drops_nodes_beyond_the_space) {
  std::array<std::uint64_t, 2> pages{};
  EXPECT_EQ(numa_pages_v1("\ntotal=3 N0=1 N5=2 N99999999999999999999=1 N=4\n", pages), 1U);
}

}  // namespace
}  // namespace plim::node
