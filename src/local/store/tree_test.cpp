#include "local/store/tree.hpp"

#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "local/store/view.hpp"

namespace plim::local::store {
namespace {

EntryPtr entry(std::string key, Revision revision = 1) {
  auto out = std::make_shared<Entry>();
  out->key = std::move(key);
  out->value = std::make_shared<std::string>("v");
  out->modified = revision;
  return out;
}

std::vector<std::string> keys(const Tree& tree) {
  std::vector<std::string> out;
  tree.scan({}, [&](const EntryPtr& e) {
    out.push_back(e->key);
    return true;
  });
  return out;
}

RC_GTEST_PROP(Tree, behaves_as_an_ordered_map_and_keeps_old_versions, ()) {
  std::map<std::string, Revision> model;
  Tree tree;
  std::vector<std::pair<Tree, std::map<std::string, Revision>>> old;
  const int steps = *rc::gen::inRange(0, 200);
  for (Revision revision = 1; revision <= static_cast<Revision>(steps); ++revision) {
    const std::string key = std::to_string(*rc::gen::inRange(0, 60));
    if (*rc::gen::inRange(0, 3) > 0) {
      tree = tree.with(entry(key, revision));
      model[key] = revision;
    } else {
      tree = tree.without(key);
      model.erase(key);
    }
    if (revision % 16 == 0) old.emplace_back(tree, model);
    RC_ASSERT(tree.is_sound());
  }
  old.emplace_back(tree, model);
  for (const auto& [version, expected] : old) {
    RC_ASSERT(version.size() == expected.size());
    std::size_t before = 0;
    for (const auto& [key, revision] : expected) {
      const EntryPtr found = version.find(key);
      RC_ASSERT(found != nullptr);
      RC_ASSERT(found->modified == revision);
      RC_ASSERT(version.count_before(key) == before++);
    }
    std::vector<std::string> expected_keys;
    for (const auto& [key, revision] : expected) expected_keys.push_back(key);
    RC_ASSERT(keys(version) == expected_keys);
  }
}

TEST(Tree, stays_balanced_when_filled_and_emptied_in_order) {
  Tree tree;
  for (int i = 10'000; i < 12'000; ++i) tree = tree.with(entry(std::to_string(i)));
  EXPECT_TRUE(tree.is_sound());
  for (int i = 10'000; i < 11'500; ++i) tree = tree.without(std::to_string(i));
  EXPECT_TRUE(tree.is_sound());
  EXPECT_EQ(tree.size(), 500u);
  EXPECT_EQ(tree.without("nothing").size(), 500u);
}

TEST(Tree, is_sound_when_built_from_sorted_entries) {
  for (std::size_t size : {0u, 1u, 2u, 3u, 4u, 7u, 100u, 1000u}) {
    std::vector<EntryPtr> entries;
    for (std::size_t i = 0; i < size; ++i) entries.push_back(entry(std::to_string(10'000 + i)));
    const Tree tree = Tree::from_sorted(entries);
    EXPECT_TRUE(tree.is_sound()) << size;
    EXPECT_EQ(tree.size(), size);
  }
}

RC_GTEST_PROP(View, pages_of_any_size_make_up_the_whole_list, ()) {
  // Few letters, including the highest byte, so that keys are often prefixes of others.
  const auto letter = rc::gen::elementOf(std::string("ab/\xFF"));
  const auto word = rc::gen::container<std::string>(letter);
  const auto words = *rc::gen::container<std::vector<std::string>>(word);
  const std::set<std::string> names(words.begin(), words.end());
  const std::string prefix = *rc::gen::resize(2, word);
  const auto limit = *rc::gen::inRange<std::size_t>(1, 5);
  Tree tree;
  std::vector<std::string> expected;
  for (const std::string& name : names) {
    tree = tree.with(entry(name));
    if (name.starts_with(prefix)) expected.push_back(name);
  }
  const View view(1, tree);
  RC_ASSERT(view.count(prefix) == expected.size());
  std::vector<std::string> got;
  for (std::string start;;) {
    const Page page = view.list(prefix, start, limit);
    RC_ASSERT(page.entries.size() <= limit);
    for (const EntryPtr& e : page.entries) got.push_back(e->key);
    RC_ASSERT(page.remaining == expected.size() - got.size());
    if (page.remaining == 0) break;
    start = got.back() + '\0';
  }
  RC_ASSERT(got == expected);
  RC_ASSERT(view.list(prefix).entries.size() == expected.size());
}

TEST(View, a_limit_of_zero_counts_only) {
  const View view(1, Tree().with(entry("a")).with(entry("b")));
  EXPECT_TRUE(view.list("", "", 0).entries.empty());
  EXPECT_EQ(view.list("", "", 0).remaining, 2u);
  EXPECT_TRUE(view.list("a", "b").entries.empty());
}

}  // namespace
}  // namespace plim::local::store
