#include "cli/pools_words.hpp"

#include <gtest/gtest.h>

namespace plim::cli {
namespace {

using Words = std::vector<std::string>;

TEST(PoolsWords, take_the_names_and_flags_of_the_programs_of_cpu_pooler) {
  EXPECT_EQ(pools_words({"cpu-device-plugin", "-poolconfigs", "/etc/cpu-dp"}),
            (Words{"pools", "agent", "--parts", "plugin", "--poolconfigs", "/etc/cpu-dp"}));
  EXPECT_EQ(pools_words({"cpusetter", "--poolconfigs=/a", "-cpusetroot=/b", "-v", "4"}),
            (Words{"pools", "agent", "--parts", "setter", "--cpusetroot=/b", "-v", "4",
                   "--poolconfigs", "/a"}));
  EXPECT_EQ(pools_words({"cpusetter", "-logtostderr", "--poolconfigs=/a", "-alsologtostderr=true",
                         "-poolconfigs", "/b"}),
            (Words{"pools", "agent", "--parts", "setter", "--poolconfigs", "/a,/b"}));
}

TEST(PoolsWords, work_for_the_module_of_the_agent_too) {
  EXPECT_EQ(pools_words({"agent", "-poolconfigs=/a", "-c", "/x", "--poolconfigs", "/b", "-0"}),
            (Words{"agent", "-c", "/x", "-0", "--poolconfigs", "/a,/b"}));
  EXPECT_EQ(
      pools_words({"agent", "run", "--modules", "pools", "-logtostderr", "-cpusetroot", "/c"}),
      (Words{"agent", "run", "--modules", "pools", "--cpusetroot", "/c"}));
}

TEST(PoolsWords, leave_other_lines_alone) {
  for (const Words& words : {Words{}, Words{"agent", "-c", "x"}, Words{"pools", "-poolconfigs"},
                             Words{"agent", "top", "-poolconfigs"}, Words{"up"}})
    EXPECT_EQ(pools_words(words), words);
}

}  // namespace
}  // namespace plim::cli
