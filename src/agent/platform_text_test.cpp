#include "agent/platform_text.hpp"

#include <gtest/gtest.h>

namespace plim::agent {
namespace {

TEST(PlatformText, ticks_count_time_that_is_not_idle) {
  std::vector<CpuTicks> ticks;
  parse_cpu_ticks("\ncpu  9 9 9 9\ncpu0 1 2 4 1000 2000 8 16 32 64 128\ncpu12 1 0 0\nintr 7 8\n",
                  ticks);
  ASSERT_EQ(ticks.size(), 2);
  EXPECT_EQ(ticks[0].cpu, 0);
  EXPECT_EQ(ticks[0].ticks, 63);
  EXPECT_EQ(ticks[1].cpu, 12);
  EXPECT_EQ(ticks[1].ticks, 1);
}

TEST(PlatformText, keys_and_values_one_per_line) {
  std::vector<KeyValue> values;
  parse_key_values(
      "\npgfault 7\nnonsense\n 5\nempty \nnr_x 18446744073709551615\nlarge 99999999999999999999\n",
      values);
  ASSERT_EQ(values.size(), 2);
  EXPECT_EQ(values[0].key, "pgfault");
  EXPECT_EQ(values[1].value, ~std::uint64_t{0});
}

constexpr std::string_view kZones =
    "\nNode 0, zone      DMA\n"
    "  per-node stats\n"
    "      nr_inactive_anon 63\n"
    "  pages free     3840\n"
    "        min      14\n"
    "        protection: (0, 3017)\n"
    "      nr_free_pages 3840\n"
    "  pagesets\n"
    "    cpu: 0\n"
    "              count:    0\n"
    "  start_pfn:           1\n"
    "Node 1, zone   Normal\n"
    "  pages free     5\n";

std::string shown(const std::vector<ZoneValue>& values) {
  std::string out;
  for (const ZoneValue& one : values)
    out += std::to_string(one.node) + " " + std::string(one.zone) + " " + std::string(one.key) +
           " " + std::to_string(one.value) + "\n";
  return out;
}

TEST(PlatformText, zones_by_node_and_name) {
  std::vector<ZoneValue> values;
  parse_zones(kZones, nullptr, values);
  EXPECT_EQ(shown(values),
            "0 per-node-stats nr_inactive_anon 63\n0 DMA free 3840\n0 DMA min 14\n"
            "0 DMA nr_free_pages 3840\n1 Normal free 5\n");
}

TEST(PlatformText, the_default_pattern_finds_the_same) {
  std::vector<ZoneValue> by_hand, by_pattern;
  const Regex pattern = Regex::compile(R"(\s+([a-z_]+)\s+(\d+))").value();
  parse_zones(kZones, nullptr, by_hand);
  parse_zones(kZones, &pattern, by_pattern);
  EXPECT_EQ(shown(by_hand), shown(by_pattern));
}

TEST(PlatformText, patterns_choose_and_may_allow_colons) {
  std::vector<ZoneValue> values;
  const Regex pattern = Regex::compile(R"(\s+(count|min):?\s+(\d+))").value();
  parse_zones(kZones, &pattern, values);
  EXPECT_EQ(shown(values), "0 DMA min 14\n0 DMA count 0\n");
}

TEST(PlatformText, memory_in_use_is_neither_free_nor_cache) {
  EXPECT_EQ(memory_in_use("\nMemTotal: 100 kB\nMemFree:  10 kB\nBuffers: 20 kB\nCached:   30 kB\n"),
            40 * 1024);
  EXPECT_FALSE(memory_in_use("\nMemTotal: 100 kB\nMemFree: 10 kB\n"));
  EXPECT_FALSE(memory_in_use("\nMemTotal: 1 kB\nMemFree: 1 kB\nBuffers: 1 kB\nCached: 1 kB\n"));
  EXPECT_FALSE(bytes_of_key("\nMemTotal: 18446744073709551615 kB\n", "MemTotal:"));
  EXPECT_EQ(bytes_of_key("\nNode 3 MemFree:   7 kB\n", "Node 3 MemFree:"), 7 * 1024);
}

}  // namespace
}  // namespace plim::agent
