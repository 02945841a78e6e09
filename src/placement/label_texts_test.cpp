#include "placement/label_texts.hpp"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/random.hpp"
#include "placement/testing/objects.hpp"

namespace plim::placement {
namespace {

TEST(LabelTexts, keep_what_is_held_or_kept) {
  LabelTexts texts;
  const auto zone = texts.keep("zone"), a = texts.hold("a");
  EXPECT_EQ(texts.hold("a"), a);
  EXPECT_EQ(texts.hold("zone"), zone);
  texts.drop(zone);
  texts.drop(a);
  EXPECT_EQ(texts.find("zone"), zone + 1);
  EXPECT_EQ(texts.find("a"), a + 1);
  texts.drop(a);
  EXPECT_EQ(texts.find("a"), 0u);
  EXPECT_EQ(texts.hold("b"), a);
  EXPECT_EQ(texts.text(a), "b");
}

TEST(LabelTexts, do_not_grow_with_nodes_that_come_and_go) {
  NodeTable table;
  const LabelKey hostname = table.labels().key_id("kubernetes.io/hostname");
  const LabelColumn& column = table.labels().column(hostname);
  for (int i = 0; i < 1000; ++i) {
    const std::string name = fmt::format("node-{}", i);
    table.set(testing::plain_node(
        name, fmt::format("{{kubernetes.io/hostname: {0}, only-{0}: {0}-x}}", name)));
    if (i >= 10) table.remove(fmt::format("node-{}", i - 10));
  }
  EXPECT_EQ(table.live().size(), 10u);
  EXPECT_LE(table.labels().text_count(), 31u);
  EXPECT_LE(column.size(), 12u);
}

TEST(LabelColumn, numbers_the_values_that_nodes_have) {
  constexpr NodeIndex kRows = 20;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    SeededRandom random(seed);
    LabelColumn column;
    column.resize(kRows);
    std::map<NodeIndex, LabelValue> wanted;
    for (int step = 0; step < 300; ++step) {
      const auto row = static_cast<NodeIndex>(random.below(kRows));
      column.set(row, wanted[row] = static_cast<LabelValue>(random.below(8) * 1000));
      std::set<LabelValue> values;
      ASSERT_EQ(column.nodes(), static_cast<std::size_t>(std::ranges::count_if(
                                    wanted, [](const auto& one) { return one.second != 0; })));
      for (const auto& [at, value] : wanted) {
        ASSERT_EQ(column.at(at) == 0, value == 0);
        ASSERT_EQ(column.find(value), column.at(at));
        if (value == 0) continue;
        ASSERT_EQ(column.value(column.at(at)), value);
        values.insert(value);
      }
      ASSERT_LE(values.size(), column.size() - 1);
      ASSERT_LE(column.size(), 8u);
    }
  }
}

}  // namespace
}  // namespace plim::placement
