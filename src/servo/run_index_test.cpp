#include "servo/run_index.hpp"

#include <gtest/gtest.h>

namespace plim::servo {
namespace {

using namespace std::chrono_literals;
using Places = std::vector<JournalPosition>;

constexpr WallTime kNoon(12h);

TEST(RunIndex, lists_unsent_runs_in_order) {
  RunIndex index;
  index.add_run("a/0", {1, 10}, kNoon, SendState::unsent);
  index.add_run("b/0", {2, 0}, kNoon, SendState::unsent);
  index.add_run("c/0", {2, 50}, kNoon, SendState::kept);
  index.add_run("a/0", {3, 0}, kNoon, SendState::unsent);  // known already
  EXPECT_EQ(index.unsent(), 2u);
  EXPECT_EQ(index.unsent_after({}, 1), (Places{{1, 10}}));
  EXPECT_EQ(index.unsent_after({1, 10}, 9), (Places{{2, 0}}));
  EXPECT_TRUE(index.has_unsent_up_to(1));
  index.mark("a/0", SendState::sent, {});
  index.mark("nobody", SendState::sent, {});
  EXPECT_FALSE(index.has_unsent_up_to(1));
  EXPECT_EQ(index.unsent(), 1u);
}

TEST(RunIndex, knows_keys_whose_runs_were_deleted) {
  RunIndex index;
  index.add_run("a/0", {1, 0}, kNoon, SendState::kept);
  index.add_run("a/1", {1, 20}, kNoon + 1h, SendState::kept);
  index.add_run("b/0", {2, 0}, kNoon, SendState::kept);
  const auto old = index.up_to(1, [](const std::string& key, WallTime) { return key == "a/0"; });
  EXPECT_EQ(old.newest, kNoon + 1h);
  EXPECT_EQ(old.needed, (std::vector<std::string>{"a/0"}));
  EXPECT_EQ(old.others, (std::vector<std::string>{"a/1"}));
  index.keep_keys(old.needed, {2, 30});
  index.forget(old.others);
  EXPECT_TRUE(index.knows("a/0"));
  EXPECT_FALSE(index.knows("a/1"));
  EXPECT_EQ(index.of_pod("a"), Places{});
  EXPECT_EQ(index.of_pod("b"), (Places{{2, 0}}));
}

}  // namespace
}  // namespace plim::servo
