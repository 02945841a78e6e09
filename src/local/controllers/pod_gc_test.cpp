#include "local/controllers/pod_gc.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "local/controllers/testing/sample_objects.hpp"

namespace plim::local::controllers {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

PodPointer pod(std::string_view name, std::string_view node, std::string_view phase,
               bool deleting = false) {
  json::object metadata{{"name", name}, {"creationTimestamp", "2026-01-01T00:00:00Z"}};
  if (deleting) metadata["deletionTimestamp"] = "2026-01-01T00:00:00Z";
  return testing::pod_from(
      {{"metadata", metadata}, {"spec", {{"nodeName", node}}}, {"status", {{"phase", phase}}}});
}

std::vector<std::string> victims(const PodGcInput& input, std::size_t max_ended = 100) {
  std::vector<std::string> out;
  for (const auto& victim : plan_pod_gc(input, max_ended).remove)
    out.push_back(victim.pod->meta.name);
  return out;
}

TEST(PodGc, waits_before_it_treats_a_node_as_deleted) {
  PodGcInput input;
  input.pods = {pod("a", "n1", "Running"), pod("b", "n2", "Running")};
  input.missing_since["n2"] = SteadyTime();
  input.now = SteadyTime(kNodeQuarantine - std::chrono::seconds(1));
  EXPECT_THAT(victims(input), IsEmpty());
  input.now = SteadyTime(kNodeQuarantine);
  EXPECT_THAT(victims(input), ElementsAre("b"));
}

TEST(PodGc, removes_deleted_pods_that_never_had_a_node) {
  PodGcInput input;
  input.pods = {pod("a", "", "Pending"), pod("b", "", "Pending", true)};
  EXPECT_THAT(victims(input), ElementsAre("b"));
}

TEST(PodGc, keeps_only_so_many_ended_pods) {
  PodGcInput input;
  for (int i = 0; i < 5; ++i) input.pods.push_back(pod(fmt::format("p{}", i), "n", "Succeeded"));
  input.pods.push_back(pod("running", "n", "Running"));
  EXPECT_THAT(victims(input, 3), ElementsAre("p0", "p1"));
}

}  // namespace
}  // namespace plim::local::controllers
