#include "agent/metric_table.hpp"

#include <gtest/gtest.h>

namespace plim::agent {
namespace {

std::string text_of(MetricTable& table, RenderOptions options = RenderOptions{}) {
  std::string out;
  table.render(out, options);
  return out;
}

TEST(MetricTable, prints_families_by_name_and_samples_by_labels) {
  MetricTable table;
  auto late = table.family("z_last", MetricType::gauge, "");
  auto early = table.family("a_first", MetricType::counter, "two\nlines \\");
  auto ten = table.add_labels({{"cpu", "10"}});
  auto nine = table.add_labels({{"cpu", "9"}});
  auto word = table.add_labels({{"cpu", "1a"}});
  auto none = table.add_labels({});
  table.set(table.add(late, none), 0.5);
  for (auto labels : {ten, word, nine}) table.set(table.add(early, labels), std::uint64_t{labels});
  EXPECT_EQ(text_of(table),
            "# HELP a_first two\\nlines \\\\\n# TYPE a_first counter\n"
            "a_first{cpu=\"9\"} 1\na_first{cpu=\"10\"} 0\na_first{cpu=\"1a\"} 2\n"
            "\n# TYPE z_last gauge\nz_last 0.5\n");
}

TEST(MetricTable, omits_series_without_a_value_in_this_iteration) {
  MetricTable table;
  auto family = table.family("m", MetricType::gauge, "");
  auto series = table.add(family, table.add_labels({}));
  table.set(series, 1.0);
  table.begin();
  EXPECT_EQ(text_of(table), "");
}

TEST(MetricTable, reuses_numbers_of_dropped_series_safely) {
  MetricTable table;
  auto first = table.family("first", MetricType::gauge, "");
  auto second = table.family("second", MetricType::gauge, "");
  auto labels = table.add_labels({{"a", "x"}});
  auto series = table.add(first, labels);
  table.set(series, 1.0);
  text_of(table);
  table.drop(series);
  table.drop_labels(labels);
  table.set(table.add(second, table.add_labels({{"b", "y"}})), 2.0);
  EXPECT_EQ(text_of(table), "# TYPE second gauge\nsecond{b=\"y\"} 2\n");
}

TEST(MetricTable, prints_numbers_so_that_they_read_back) {
  MetricTable table;
  auto family = table.family("m", MetricType::gauge, "");
  const auto printed = [&](auto value) {
    auto labels = table.add_labels({});
    auto series = table.add(family, labels);
    table.set(series, value);
    std::string text = text_of(table);
    table.drop(series);
    table.drop_labels(labels);
    return text.substr(text.rfind(' ') + 1);
  };
  EXPECT_EQ(printed(std::uint64_t{9223372036854771712U}), "9223372036854771712\n");
  EXPECT_EQ(printed(0.1), "0.1\n");
  EXPECT_EQ(printed(1794811061.700004), "1794811061.700004\n");
  EXPECT_EQ(printed(3.0), "3\n");
}

TEST(MetricTable, keeps_the_last_of_samples_that_filtering_makes_equal) {
  MetricTable table;
  auto family = table.family("m", MetricType::gauge, "");
  table.set(table.add(family, table.add_labels({{"host", "h"}, {"task", "a,\"=b"}})), 1.0);
  table.set(table.add(family, table.add_labels({{"host", "h"}, {"task", "c"}})), 2.0);
  const std::vector<std::string> kept{"host"};
  std::string out;
  EXPECT_TRUE(table.render(out, {.timestamp_ms = 7, .labels = &kept}));
  EXPECT_EQ(out, "# TYPE m gauge\nm{host=\"h\"} 2 7\n");
}

TEST(LabelsBefore, is_an_order) {
  const std::vector<std::string> rising{
      "",        R"(a="0")",    R"(a="2")", R"(a="10")", R"(a="10",b="")",
      R"(a="")", R"(a="x\"y")", R"(b="1")"};
  for (std::size_t i = 0; i < rising.size(); ++i)
    for (std::size_t j = 0; j < rising.size(); ++j)
      EXPECT_EQ(labels_before(rising[i], rising[j]), i < j) << rising[i] << " " << rising[j];
}

}  // namespace
}  // namespace plim::agent
