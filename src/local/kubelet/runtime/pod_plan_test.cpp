#include "local/kubelet/runtime/pod_plan.hpp"

#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include "local/kubelet/runtime/testing/facts_builder.hpp"

namespace plim::local::kubelet {
namespace {

struct Row {
  RestartPolicy policy;
  const char* init;
  const char* containers;
  const char* want;  // names to start, or "finished"
};

constexpr auto kAlways = RestartPolicy::always;
constexpr auto kOnFailure = RestartPolicy::on_failure;
constexpr auto kNever = RestartPolicy::never;

TEST(PodPlan, follows_the_restart_policy_and_the_order) {
  const std::vector<Row> rows{
      {kAlways, "", "new, new", "c1 c2"},
      {kAlways, "", "running, new", "c2"},
      {kAlways, "", "running, running", ""},
      {kAlways, "", "exit 0, running", "c1"},
      {kOnFailure, "", "exit 0, running", ""},
      {kOnFailure, "", "exit 0, exit 0", "finished"},
      {kOnFailure, "", "exit 1, exit 0", "c1"},
      {kOnFailure, "", "crash 1, exit 0", "c1"},
      {kNever, "", "exit 1, running", ""},
      {kNever, "", "exit 1, exit 0", "finished"},
      {kNever, "new, new", "new", "i1"},
      {kNever, "running, new", "new", ""},
      {kNever, "exit 0, new", "new", "i2"},
      {kNever, "exit 0, exit 0", "new", "c1"},
      {kNever, "exit 1, new", "new", "finished"},
      {kOnFailure, "exit 1, new", "new", "i1"},
      {kAlways, "exit 1, new", "new", "i1"},
      {kAlways, "side-new, new", "new", "i1"},
      {kAlways, "side-starting, new", "new", ""},
      {kAlways, "side-unready, new", "new", "i2"},
      {kAlways, "side-running, exit 0", "new", "c1"},
      {kNever, "side-running, exit 1", "new", "finished"},
      {kNever, "side-exit 0, exit 0", "running", "i1"},
      {kNever, "side-running", "exit 0", "finished"},
      {kNever, "side-exit 3", "exit 0", "finished"},
      {kAlways, "", "gone 143, gone 0", "c1 c2"},
      {kOnFailure, "", "gone 143, gone 0", "c1"},
      {kOnFailure, "gone 0", "gone 0, gone 0", "finished"},
      {kNever, "gone 0", "gone 143", "finished"},
      {kNever, "gone 143", "new", "finished"},
      {kAlways, "gone 0, gone 0", "gone 143", "i1"},
      {kAlways, "exit 0, gone 0", "gone 143", "i2"},
      {kAlways, "exit 0, exit 0", "gone 143", "c1"},
      {kAlways, "exit 0, side-gone 143", "gone 143", "i2"},
      {kAlways, "exit 0", "running, gone 143", "c2"},
      {kOnFailure, "gone 143", "new", "i1"},
  };
  for (const Row& row : rows) {
    const PodPlan plan = plan_pod(row.policy, plim::testing::pod_facts(row.init, row.containers));
    const std::string got =
        plan.finished ? "finished" : fmt::format("{}", fmt::join(plan.start, " "));
    EXPECT_EQ(got, row.want) << row.init << " | " << row.containers;
  }
}

}  // namespace
}  // namespace plim::local::kubelet
