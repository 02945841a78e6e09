#include "base/table.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "base/utf8.hpp"

namespace plim {
namespace {

Table pods() {
  Table table({{"name"}, {"ready"}, {"node", Table::Shown::wide}, {"age"}});
  table.add({"web-7f9c", "1/1", "n1", "5d"});
  table.add({"a", "", "node-2", ""});
  return table;
}

TEST(Table, looks_like_kubectl) {
  EXPECT_EQ(pods().render({}),
            "NAME       READY   AGE\n"
            "web-7f9c   1/1     5d\n"
            "a\n");
}

TEST(Table, wide_shows_all_columns) {
  EXPECT_EQ(pods().render({.wide = true}),
            "NAME       READY   NODE     AGE\n"
            "web-7f9c   1/1     n1       5d\n"
            "a                  node-2\n");
}

TEST(Table, without_headers_columns_shrink) {
  EXPECT_EQ(pods().render({.headers = false}),
            "web-7f9c   1/1   5d\n"
            "a\n");
}

TEST(Table, widths_are_those_of_the_terminal) {
  Table table({{"name"}, {"x"}});
  table.add({"日本", "1"});
  table.add({"né\u0301e", "2"});
  EXPECT_EQ(table.render({}),
            "NAME   X\n"
            "日本   1\n"
            "né\u0301e    2\n");
}

TEST(Table, colours_do_not_move_columns) {
  Table table({{"a"}, {"b"}});
  table.add({Table::Cell("ok", Color::green), "1"});
  EXPECT_EQ(table.render({.headers = false, .color = true}), "\x1b[32mok\x1b[0m   1\n");
  EXPECT_EQ(table.render({.headers = false}), "ok   1\n");
}

TEST(Table, cells_cannot_break_out) {
  Table table({{"a"}, {"b"}});
  table.add({"first\nsecond", "\x1b[2J"});
  EXPECT_EQ(table.render({.headers = false}), "first...   \\x1b[2J\n");
}

RC_GTEST_PROP(Table, any_cells_make_aligned_lines_without_trailing_blanks,
              (const std::vector<std::string>& cells)) {
  Table table({{"a"}, {"b"}});
  for (const std::string& cell : cells) table.add({cell, "|"});
  const std::string text = table.render({.headers = false});
  std::optional<std::size_t> column;
  std::size_t lines = 0;
  for (std::string_view rest = text; !rest.empty(); ++lines) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(line.size() + 1);
    RC_ASSERT(line.back() == '|');
    const std::size_t at = display_width(line) - 1;
    if (column) RC_ASSERT(*column == at);  // RC_ASSERT evaluates both sides of ||
    column = at;
  }
  RC_ASSERT(lines == cells.size());
}

}  // namespace
}  // namespace plim
