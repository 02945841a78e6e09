#include "cli/pools_words.hpp"

#include <gtest/gtest.h>

namespace plim::cli {
namespace {

using Words = std::vector<std::string>;

TEST(PoolsWords, take_the_names_and_flags_of_the_ancestors_programs) {
  EXPECT_EQ(pools_words({"cpu-device-plugin", "-poolconfigs", "/etc/cpu-dp"}),
            (Words{"pools", "agent", "--parts", "plugin", "--poolconfigs", "/etc/cpu-dp"}));
  EXPECT_EQ(pools_words({"cpusetter", "--poolconfigs=/a", "-cpusetroot=/b", "-v", "4"}),
            (Words{"pools", "agent", "--parts", "setter", "--cpusetroot=/b", "-v", "4",
                   "--poolconfigs", "/a"}));
  EXPECT_EQ(pools_words({"cpusetter", "-logtostderr", "--poolconfigs=/a", "-alsologtostderr=true",
                         "-poolconfigs", "/b"}),
            (Words{"pools", "agent", "--parts", "setter", "--poolconfigs", "/a,/b"}));
}

TEST(PoolsWords, take_the_module_of_the_agent) {
  EXPECT_EQ(pools_words({"agent", "--modules", "pools", "--dry-run"}),
            (Words{"pools", "agent", "--dry-run"}));
  EXPECT_EQ(pools_words({"agent", "run", "--modules=pools"}), (Words{"pools", "agent"}));
}

TEST(PoolsWords, leave_other_lines_alone) {
  for (const Words& words :
       {Words{}, Words{"agent", "-c", "x"}, Words{"pools", "-poolconfigs"}, Words{"up"}})
    EXPECT_EQ(pools_words(words), words);
}

}  // namespace
}  // namespace plim::cli
