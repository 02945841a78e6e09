#include "agent/perf_events.hpp"

#include <cerrno>
#include <vector>

#include <gtest/gtest.h>

namespace plim::agent {
namespace {

TEST(PerfEvents, raw_codes_are_event_umask_and_more) {
  struct Case {
    const char* name;
    std::uint64_t config, config1;
  };

  for (const Case& one : {Case{"a__rD081", 0x81d0, 0}, Case{"a__rA31414", 0x140014a3, 0},
                          Case{"a__rB701003F84000001", 0x1b7, 0x3f84000001}}) {
    auto event = parse_perf_event(one.name);
    ASSERT_TRUE(event) << one.name;
    EXPECT_EQ(event->kind, PerfEvent::Kind::raw);
    EXPECT_EQ(event->config, one.config);
    EXPECT_EQ(event->config1, one.config1);
  }
}

TEST(PerfEvents, names_have_the_kernels_numbers) {
  EXPECT_EQ(parse_perf_event("task_cycles").value().config, 0);
  EXPECT_EQ(parse_perf_event("task_cache_misses").value().config, 3);
  EXPECT_EQ(parse_perf_event("task_sw_task_clock").value().kind, PerfEvent::Kind::software);
  EXPECT_EQ(parse_perf_event("task_dtlb_load_misses").value().kind, PerfEvent::Kind::model);
}

TEST(PerfEvents, rejects_other_names) {
  for (const char* name : {"", "cycles!", "__rD081", "a__r", "a__rD08", "a__rD0810", "a__rXX81",
                           "a__rB701003F8400000", "a__rB70100-F84000001", "task_nothing"})
    EXPECT_FALSE(parse_perf_event(name)) << name;
}

TEST(PerfEvents, the_first_reason_counts) {
  const auto reason = [](std::vector<int> errors) { return judge_perf(errors).reason; };
  EXPECT_EQ(reason({ENOENT, EOPNOTSUPP, ENODEV}), "no_pmu");
  EXPECT_EQ(reason({ENOENT, 0}), "");  // the others can be counted
  EXPECT_EQ(reason({0, EACCES}), "permission");
  EXPECT_EQ(reason({EPERM, EMFILE}), "permission");
  EXPECT_EQ(reason({EMFILE}), "fds");
  EXPECT_EQ(reason({0, 0}), "");
}

}  // namespace
}  // namespace plim::agent
