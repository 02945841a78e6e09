#include "placement/pod_requests.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "placement/testing/objects.hpp"

namespace plim::placement {
namespace {

using testing::pod_of;

PodRequests counted_of(std::string_view spec) {
  ResourceNames names;
  return requests_of(*pod_of(fmt::format("{{metadata: {{name: p}}, spec: {}}}", spec)), names);
}

TEST(PodRequests, sums_containers_and_takes_the_largest_init_container) {
  auto made = counted_of(R"({
    initContainers: [{name: i, resources: {requests: {cpu: 700m, memory: 10Mi}}}],
    containers: [{name: a, resources: {requests: {cpu: 200m, memory: 50Mi}}},
                 {name: b, resources: {requests: {cpu: 300m}}}]})");
  EXPECT_EQ(made.basic[kCpu], 700);
  EXPECT_EQ(made.basic[kMemory], 50 * 1024 * 1024);
}

TEST(PodRequests, sidecars_count_for_all_later_containers) {
  auto made = counted_of(R"({
    initContainers: [{name: early, resources: {requests: {cpu: 1500m}}},
                     {name: side, restartPolicy: Always, resources: {requests: {cpu: 1}}},
                     {name: late, resources: {requests: {cpu: 900m}}}],
    containers: [{name: a, resources: {requests: {cpu: 200m}}}]})");
  EXPECT_EQ(made.basic[kCpu], 1900);
}

TEST(PodRequests, rounds_up_once_after_summing) {
  auto made = counted_of(R"({containers: [{name: a, resources: {requests: {cpu: 500u}}},
                                          {name: b, resources: {requests: {cpu: 500u}}}]})");
  EXPECT_EQ(made.basic[kCpu], 1);
}

TEST(PodRequests, adds_overhead_to_pod_level_requests) {
  auto made = counted_of(R"({resources: {requests: {cpu: 2}}, overhead: {cpu: 250m, memory: 1Mi},
    containers: [{name: a, resources: {requests: {cpu: 100m, memory: 3Mi}}}]})");
  EXPECT_EQ(made.basic[kCpu], 2250);
  EXPECT_EQ(made.basic[kMemory], 4 * 1024 * 1024);
  EXPECT_EQ(made.nonzero_cpu, 2250);
}

TEST(PodRequests, counts_a_default_for_each_container_without_requests) {
  auto made =
      counted_of(R"({containers: [{name: a, resources: {requests: {cpu: 0}}}, {name: b}]})");
  EXPECT_EQ(made.basic[kCpu], 0);
  EXPECT_EQ(made.nonzero_cpu, 100);
  EXPECT_EQ(made.nonzero_memory, 2 * 209715200);
}

TEST(PodRequests, with_pod_level_requests_defaults_apply_only_to_other_resources) {
  auto made =
      counted_of(R"({resources: {requests: {cpu: 1}}, containers: [{name: a}, {name: b}]})");
  EXPECT_EQ(made.nonzero_cpu, 1000);
  EXPECT_EQ(made.nonzero_memory, 2 * 209715200);
}

TEST(PodRequests, counts_scalar_resources_and_ignores_unknown_names) {
  ResourceNames names;
  auto pod = pod_of(R"({metadata: {name: p}, spec: {containers: [{name: a, resources: {requests: {
    example.com/gpu: 2, hugepages-2Mi: 4Mi, storage: 5Gi, gpu: 1}}}]}})");
  auto made = requests_of(*pod, names);
  ASSERT_EQ(made.scalars.size(), 2u);
  EXPECT_EQ(made.of(names.find("example.com/gpu")), 2);
  EXPECT_EQ(made.of(names.find("hugepages-2Mi")), 4 * 1024 * 1024);
  EXPECT_EQ(names.find("storage"), kNoResource);
}

TEST(PodRequests, a_resize_in_progress_counts_the_largest_amount) {
  ResourceNames names;
  auto text = [](std::string_view reason) {
    return fmt::format(R"({{metadata: {{name: p}},
      spec: {{containers: [{{name: a, resources: {{requests: {{cpu: 3}}}}}}]}},
      status: {{conditions: [{{type: PodResizePending, status: 'True', reason: {}}}],
        containerStatuses: [{{name: a, allocatedResources: {{cpu: 1}},
                              resources: {{requests: {{cpu: 2}}}}}}]}}}})",
                       reason);
  };
  EXPECT_EQ(requests_of(*pod_of(text("Deferred")), names).basic[kCpu], 3000);
  EXPECT_EQ(requests_of(*pod_of(text("Infeasible")), names).basic[kCpu], 2000);
}

TEST(PodRequests, limits_huge_and_negative_amounts) {
  auto made = counted_of(
      "{containers: [{name: a, resources: {requests: {cpu: 9E, memory: 8Ei}}}, {name: b, "
      "resources: "
      "{requests: {cpu: '-3', memory: 8Ei}}}]}");
  EXPECT_EQ(made.basic[kCpu], std::int64_t{1} << 55);
  EXPECT_EQ(made.basic[kMemory], std::int64_t{1} << 55);
  EXPECT_EQ(counted_of("{containers: [{name: a, resources: {requests: {cpu: '-3'}}}]}").basic[kCpu],
            0);
}

TEST(ScoredRequests, do_not_include_pod_level_requests) {
  ResourceNames names;
  auto pod = pod_of(R"({metadata: {name: p}, spec: {resources: {requests: {cpu: 2}},
    containers: [{name: a, resources: {requests: {cpu: 300m}}}, {name: b}]}})");
  EXPECT_EQ(scored_requests_of(*pod, names).nonzero_cpu, 400);
}

std::int64_t cpu_of(std::string_view pod, int minor = Release::kNewest) {
  ResourceNames names;
  Release release;
  release.minor = minor;
  return requests_of(*pod_of(pod), names, release).basic[kCpu];
}

TEST(PodResize, compares_the_sums_over_all_containers) {
  constexpr std::string_view kPod = R"({metadata: {name: p}, spec: {containers: [
      {name: a, resources: {requests: {cpu: 1}}}, {name: b, resources: {requests: {cpu: 3}}}]},
    status: {containerStatuses: [
      {name: a, allocatedResources: {cpu: 2}, resources: {requests: {cpu: 2}}},
      {name: b, allocatedResources: {cpu: 1}, resources: {requests: {cpu: 1}}}]}})";
  EXPECT_EQ(cpu_of(kPod), 4000);
  EXPECT_EQ(cpu_of(kPod, 36), 5000);
}

TEST(PodResize, counts_the_status_of_the_pod_as_a_whole) {
  constexpr std::string_view kPod = R"({metadata: {name: p}, spec: {resources: {requests: {cpu: 2}},
      containers: [{name: a, resources: {requests: {cpu: 1}}}]},
    status: {allocatedResources: {cpu: 4}, resources: {requests: {cpu: 3}}}})";
  EXPECT_EQ(cpu_of(kPod), 4000);
  EXPECT_EQ(cpu_of(kPod, 36), 4000);
  EXPECT_EQ(cpu_of(kPod, 35), 2000);
}

TEST(PodResize, an_infeasible_resize_counts_what_is_allocated) {
  constexpr std::string_view kPod = R"({metadata: {name: p}, spec: {containers: [
      {name: a, resources: {requests: {cpu: 9}}}]},
    status: {conditions: [{type: PodResizePending, status: 'True', reason: Infeasible}],
      containerStatuses: [{name: a, allocatedResources: {cpu: 2}, resources: {requests: {cpu: 1}}}]}})";
  EXPECT_EQ(cpu_of(kPod), 2000);
  EXPECT_EQ(cpu_of(kPod, 34), 2000);
}

}  // namespace
}  // namespace plim::placement
