// Random pods: the answer is either a patch that applies and is complete, or a code. The variable
// PLIMSOLL_REVIEWS sets how many pods to try.
#include <cstdlib>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "pools/testing/admission_pods.hpp"

namespace plim::pools {
namespace {

using testing::creation_of;
using testing::parsed;
using testing::sample_catalog;

constexpr std::string_view kWhole = R"({"kind":"Pod","metadata":{"annotations":{
  "nokia.k8s.io/cpus":"[{\"container\":\"a\",\"processes\":[{\"process\":\"p\",\"args\":[],\"pool\":\"sharedpool\",\"cpus\":100}]}]",
  "x":"y"}},
 "spec":{"volumes":[{"name":"podinfo","downwardAPI":{"items":[{"path":"annotations","fieldRef":{"fieldPath":"metadata.annotations"}}]}},
                    {"name":"hostbin","hostPath":{"path":"/opt/bin/process-starter","type":"File"}}],
  "initContainers":[{"name":"i","command":["x"],"resources":{"limits":{"nokia.k8s.io/cpupool1":"1"}}}],
  "containers":[
   {"name":"a","command":["/bin/sh","-c"],"args":["echo \"1\" \\ \n"],
    "env":[{"name":"CONTAINER_NAME","value":"a"},{"name":"CPU_POOLS","valueFrom":{"fieldRef":{"fieldPath":"metadata.name"}}}],
    "volumeMounts":[{"name":"podinfo","mountPath":"/etc/podinfo","readOnly":true},{"name":"d","mountPath":"/d"}],
    "resources":{"limits":{"nokia.k8s.io/sharedpool":"100","nokia.k8s.io/cpupool1":"2","cpu":"9","memory":"1Gi"},
                 "requests":{"cpu":"250m","nokia.k8s.io/sharedpool":"100"}}},
   {"name":"b","command":["/opt/bin/process-starter"],"resources":{"limits":{"nokia.k8s.io/exclusive-cores":"2"}}},
   {"name":"c"}]}})";
const std::vector<std::string_view> kGlue{"null",
                                          "true",
                                          "0",
                                          "-1",
                                          "1.5",
                                          "[]",
                                          "{}",
                                          R"("")",
                                          R"("a")",
                                          R"("2k")",
                                          R"("podinfo")",
                                          R"("sharedpool")",
                                          R"("/opt/bin/process-starter")",
                                          R"("[]")"};

TEST(MutateRandomPods, are_patched_once_or_rejected_with_a_code) {
  const char* asked = std::getenv("PLIMSOLL_REVIEWS");
  const long rounds = asked ? std::atol(asked) : 3000;
  kube::testing::Scissors scissors(20181116, kGlue);
  const json::value whole = parsed(kWhole);
  long patched = 0, refused = 0;
  const PoolCatalog pools = sample_catalog();
  for (long round = 0; round < rounds; ++round) {
    json::value pod = whole;
    for (std::size_t cuts = 1 + scissors.below(6); cuts > 0; --cuts) scissors.cut(pod);
    const MutateOptions options{.cfs_quotas = static_cast<CfsQuotas>(scissors.below(3)),
                                .delivery = static_cast<StarterDelivery>(scissors.below(2)),
                                .unknown_pool = static_cast<UnknownPool>(scissors.below(3))};
    const auto answer = mutate_pod(creation_of(pod), pools, options);
    if (!answer.allowed) {
      ++refused;
      ASSERT_TRUE(answer.message.starts_with(answer.code + ": ") && answer.code.size() == 6);
      continue;
    }
    patched += answer.patch.empty() ? 0 : 1;
    const auto after = local::apiserver::apply_json_patch(pod, answer.patch);
    ASSERT_TRUE(after) << after.error().message << "\n"
                       << to_json(pod) << "\n"
                       << to_json(answer.patch);
    const auto again = mutate_pod(creation_of(*after), pools, options);
    ASSERT_TRUE(again.allowed && again.patch.empty())
        << again.message << to_json(again.patch) << "\n"
        << to_json(pod);
  }
  // Otherwise the test has tried nothing.
  EXPECT_GT(patched, rounds / 10);
  EXPECT_GT(refused, rounds / 10);
}

}  // namespace
}  // namespace plim::pools
