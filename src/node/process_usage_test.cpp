#include "node/process_usage.hpp"

#include <unistd.h>

#include <gtest/gtest.h>

#include "base/files.hpp"
#include "base/testing/temp_dir.hpp"

namespace plim::node {
namespace {

TEST(ProcessUsage, adds_up_what_processes_use) {
  const plim::testing::TempDir proc;
  const std::string rest = " S 1 1 1 0 -1 4194560 1 1 0 0 100 20 3 4 20 0 1 0 100 9999 10 0";
  for (const char* pid : {"7", "8"}) {
    ASSERT_TRUE(make_directories(proc / pid));
    ASSERT_TRUE(
        write_file(proc / (std::string(pid) + "/stat"), std::string(pid) + " (a) b)" + rest));
  }
  const CgroupUsage usage = processes_usage({7, 8, 9}, proc.path());
  EXPECT_EQ(usage.cpu_ns,
            2 * 127 * (1'000'000'000ull / static_cast<unsigned long>(::sysconf(_SC_CLK_TCK))));
  EXPECT_EQ(usage.rss_bytes, 2u * 10 * static_cast<unsigned long>(::sysconf(_SC_PAGESIZE)));
  EXPECT_EQ(usage.working_set_bytes, usage.rss_bytes);
}

TEST(ProcessUsage, reads_this_process) {
  EXPECT_GT(processes_usage({::getpid()}).rss_bytes, 0u);
}

}  // namespace
}  // namespace plim::node
