#include "base/intern.hpp"

#include <map>
#include <string>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace plim {
namespace {

TEST(InternTable, gives_equal_texts_one_id) {
  InternTable table;
  auto a = table.intern("kube-system");
  std::string copy = "kube-system";
  EXPECT_EQ(table.intern(copy), a);
  EXPECT_NE(table.intern("default"), a);
  EXPECT_EQ(table.text_of(a), "kube-system");
  EXPECT_NE(table.stored(copy).data(), copy.data());
  EXPECT_EQ(table.stored(copy).data(), table.text_of(a).data());
}

TEST(InternTable, zero_is_the_empty_text) {
  InternTable table;
  EXPECT_EQ(table.intern(""), 0u);
  EXPECT_EQ(table.text_of(0), "");
  EXPECT_EQ(table.size(), 1u);
}

TEST(InternTable, texts_stay_while_it_grows_and_moves) {
  InternTable table;
  std::string_view first = table.stored("first");
  std::string_view large = table.stored(std::string(10'000, 'x'));
  for (int i = 0; i < 10'000; ++i) table.intern("pod-" + std::to_string(i));
  InternTable moved = std::move(table);
  EXPECT_EQ(first, "first");
  EXPECT_EQ(large.size(), 10'000u);
  EXPECT_EQ(moved.stored("first").data(), first.data());
  EXPECT_EQ(moved.size(), 10'003u);
  EXPECT_EQ(moved.text_of(moved.intern("pod-77")), "pod-77");
}

RC_GTEST_PROP(InternTable, agrees_with_a_map, (const std::vector<std::string>& texts)) {
  InternTable table;
  std::map<std::string, InternTable::Id> model;
  for (const std::string& text : texts) {
    auto id = table.intern(text);
    RC_ASSERT(model.try_emplace(text, id).first->second == id);
    RC_ASSERT(table.text_of(id) == text);
  }
}

}  // namespace
}  // namespace plim
