// Tests of pods after the servo's webhook has changed them.
#include "servo/mutate.hpp"

#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kube/decode.hpp"
#include "kube/testing/admission.hpp"
#include "servo/testing/pods.hpp"

namespace plim::servo {
namespace {

using kube::testing::admitted_by;
using kube::testing::creation_of;
using kube::testing::parsed;
using testing::default_rules;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

const Monitor kNone{};
const Monitor kMonitor{.image = "podmon:1", .target = "10.0.0.9"};

constexpr std::string_view kBare = R"({"metadata":{"generateName":"j-"},"spec":{
    "restartPolicy":"Never","containers":[
      {"name":"main","image":"i","env":[{"name":"JOBID","value":"a1"}]}]}})";

kube::AdmissionAnswer admit(json::value pod, const Monitor& monitor,
                            MonitorForm form = MonitorForm::sidecar) {
  return mutate_job(creation_of(std::move(pod)), default_rules(), monitor, form);
}

json::value admitted(const json::value& pod, const Monitor& monitor = kMonitor) {
  return admitted_by(
      [&](const kube::AdmissionReview& review) {
        return mutate_job(review, default_rules(), monitor);
      },
      pod);
}

std::string patch_for(std::string_view pod, const Monitor& monitor) {
  return to_json(admit(parsed(pod), monitor).patch);
}

std::string cgroup_of(const json::value& pod) {
  return std::string(text_at(pod.at_pointer("/spec/initContainers/0/env/1"), {"value"}));
}

// The same pod with other resources of its container.
json::value with_resources(std::string_view resources) {
  json::value pod = parsed(kBare);
  pod.at_pointer("/spec/containers/0").as_object()["resources"] = parsed(resources);
  return pod;
}

TEST(MutateJob, gets_the_monitor_as_a_sidecar) {
  EXPECT_EQ(admit(parsed(kBare), kMonitor).patch, parsed(R"json([
      {"op":"add","path":"/spec/volumes","value":[
        {"name":"rsys","hostPath":{"path":"/sys","type":"Directory"}}]},
      {"op":"add","path":"/spec/initContainers","value":[
        {"name":"zzzzmonitor","image":"podmon:1","restartPolicy":"Always",
         "env":[{"name":"OPTUNE_SELF_ID","valueFrom":{"fieldRef":{"fieldPath":"metadata.uid"}}},
                {"name":"OPTUNE_CGROUP_PATH","value":"/kubepods/besteffort/pod$(OPTUNE_SELF_ID)"},
                {"name":"REPORT_TARGET","value":"10.0.0.9"}],
         "volumeMounts":[{"name":"rsys","mountPath":"/rsys","readOnly":true}]}]},
      {"op":"add","path":"/metadata/annotations","value":{"plimsoll.io/servo":"v1"}}])json"));
}

TEST(MutateJob, is_only_marked_without_a_monitor) {
  EXPECT_EQ(patch_for(kBare, kNone),
            R"([{"op":"add","path":"/metadata/annotations","value":{"plimsoll.io/servo":"v1"}}])");
  EXPECT_EQ(patch_for(R"({"metadata":{"annotations":{"a":"b"}},"spec":{"restartPolicy":"OnFailure",
                          "containers":[{"name":"m","env":[{"name":"JOBID","value":"x"}]}]}})",
                      kNone),
            R"([{"op":"add","path":"/metadata/annotations/plimsoll.io~1servo","value":"v1"}])");
}

TEST(MutateJob, keeps_its_containers_and_their_indexes) {
  json::value pod = parsed(kBare);
  pod.at("spec").as_object()["initContainers"] = parsed(R"([{"name":"first","image":"i"}])");
  pod.at("spec").as_object()["volumes"] = parsed(R"([{"name":"d","emptyDir":{}}])");
  const json::value after = admitted(pod);
  EXPECT_EQ(after.at("spec").at("containers"), pod.at("spec").at("containers"));
  EXPECT_EQ(text_at(after.at_pointer("/spec/initContainers/0"), {"name"}), "first");
  EXPECT_EQ(text_at(after.at_pointer("/spec/initContainers/1"), {"name"}), "zzzzmonitor");
  EXPECT_EQ(text_at(after.at_pointer("/spec/volumes/1"), {"name"}), "rsys");
}

TEST(MutateJob, keeps_its_qos_class_and_passes_it_to_the_monitor) {
  EXPECT_EQ(cgroup_of(admitted(parsed(kBare))), "/kubepods/besteffort/pod$(OPTUNE_SELF_ID)");
  EXPECT_EQ(cgroup_of(admitted(with_resources(R"({"requests":{"cpu":"1"}})"))),
            "/kubepods/burstable/pod$(OPTUNE_SELF_ID)");
  const json::value after = admitted(with_resources(
      R"({"requests":{"cpu":"1","memory":"1Gi"},"limits":{"cpu":"1","memory":"1Gi"}})"));
  EXPECT_EQ(cgroup_of(after), "/kubepods/pod$(OPTUNE_SELF_ID)");
  EXPECT_EQ(to_json(after.at_pointer("/spec/initContainers/0/resources")),
            R"({"requests":{"cpu":"10m","memory":"64Mi"},"limits":{"cpu":"10m","memory":"64Mi"}})");
}

TEST(MutateJob, with_a_monitor_is_not_changed) {
  for (std::string_view list : {"containers", "initContainers"}) {
    json::value pod = parsed(kBare);
    json::value& found = pod.at("spec").as_object()[list];
    if (!found.is_array()) found = json::array();
    found.as_array().push_back(json::object{{"name", "zzzzmonitor"}});
    EXPECT_EQ(to_json(admit(pod, kMonitor).patch), "[]") << list;
  }
}

TEST(MutateJob, ignores_pods_that_are_not_jobs) {
  for (std::string_view pod :
       {R"({"metadata":{},"spec":{"restartPolicy":"Never","containers":[{"name":"m"}]}})",
        R"({"metadata":{},"spec":{"restartPolicy":"Always","containers":[
            {"name":"m","env":[{"name":"JOBID","value":"x"}]}]}})",
        R"({"metadata":{"annotations":{"plimsoll.io/job":"false"}},"spec":{"restartPolicy":"Never",
            "containers":[{"name":"m","env":[{"name":"JOBID","value":"x"}]}]}})",
        R"({"metadata":{},"spec":null})", "[]", "null", R"("pod")"})
    EXPECT_EQ(patch_for(pod, kMonitor), "[]") << pod;
  kube::AdmissionReview review = creation_of(parsed(kBare));
  review.ns = "other";
  EXPECT_TRUE(mutate_job(review, default_rules(), kMonitor).patch.empty());
  for (std::string_view operation : {"UPDATE", "DELETE", "CONNECT", ""}) {
    review = creation_of(parsed(kBare));
    review.operation = operation;
    EXPECT_TRUE(mutate_job(review, default_rules(), kMonitor).patch.empty()) << operation;
  }
  review = creation_of(parsed(kBare));
  review.subresource = "ephemeralcontainers";
  EXPECT_TRUE(mutate_job(review, default_rules(), kMonitor).patch.empty());
}

TEST(MutateJob, with_another_volume_of_the_same_name_gets_no_monitor) {
  json::value pod = parsed(kBare);
  pod.at("spec").as_object()["volumes"] = parsed(R"([{"name":"rsys","emptyDir":{}}])");
  const kube::AdmissionAnswer answer = admit(pod, kMonitor);
  EXPECT_TRUE(answer.allowed);
  EXPECT_EQ(answer.patch.size(), 1u);
  EXPECT_THAT(answer.warnings, ElementsAre(HasSubstr("zzzzmonitor is not added")));
  pod.at("spec").as_object()["volumes"] = parsed(R"([{"name":"rsys","hostPath":{"path":"/sys"}}])");
  EXPECT_EQ(admitted(pod).at("spec").at("volumes"), pod.at("spec").at("volumes"));
}

TEST(MutateJob, of_an_old_cluster_gets_the_monitor_after_its_containers) {
  const kube::AdmissionAnswer answer = admit(parsed(kBare), kMonitor, MonitorForm::appended);
  const json::value& added = answer.patch.at(1);
  EXPECT_EQ(text_at(added, {"path"}), "/spec/containers/-");
  EXPECT_EQ(text_at(added, {"value", "name"}), "zzzzmonitor");
  EXPECT_EQ(find(added, {"value", "restartPolicy"}), nullptr);
  EXPECT_THAT(answer.warnings, ElementsAre(HasSubstr("sidecars need Kubernetes 1.29")));
}

TEST(MutateJob, gets_no_target_if_the_monitor_does_not_report) {
  const json::value after = admitted(parsed(kBare), Monitor{.image = "pause", .target = ""});
  EXPECT_EQ(after.at_pointer("/spec/initContainers/0/env").as_array().size(), 2u);
}

// Random pods: a valid pod stays valid, and a second admission changes nothing.
TEST(MutateJob, of_any_shape_stays_a_pod) {
  const std::vector<std::string_view> glue{"null",       "true",
                                           "0",          "[]",
                                           "{}",         R"("")",
                                           R"("x")",     R"("rsys")",
                                           R"("/sys")",  R"("Never")",
                                           R"("v1")",    R"("zzzzmonitor")",
                                           R"("JOBID")", R"([{"name":"rsys"}])"};
  const json::value whole = parsed(R"({"metadata":{"generateName":"j-","namespace":"default",
      "annotations":{"plimsoll.io/job":"true","plimsoll.io/servo":"v1","plimsoll.io/measure":"main"}},
     "spec":{"restartPolicy":"Never",
      "volumes":[{"name":"d","emptyDir":{}},{"name":"rsys","hostPath":{"path":"/sys","type":"Directory"}}],
      "initContainers":[{"name":"i","image":"x"}],
      "containers":[{"name":"main","image":"x","env":[{"name":"JOBID","value":"a"}],
        "resources":{"limits":{"cpu":"1","memory":"1Gi"},"requests":{"cpu":"1","memory":"1Gi"}}},
       {"name":"side","image":"x"}]}})");
  kube::testing::Scissors scissors(20261116, glue);
  kube::InternPool names;
  const auto is_pod = [&names](const json::value& value) {
    std::string text = to_json(value);
    return kube::decode_pod(kube::JsonText(text), names).has_value();
  };
  int changed = 0, decoded = 0;
  for (int round = 0; round < 3000; ++round) {
    json::value pod = whole;
    for (std::size_t cuts = 1 + scissors.below(5); cuts > 0; --cuts) scissors.cut(pod);
    const Monitor& monitor = scissors.below(3) == 0 ? kNone : kMonitor;
    const json::value after = admitted(pod, monitor);
    changed += after == pod ? 0 : 1;
    if (!is_pod(pod)) continue;
    ++decoded;
    ASSERT_TRUE(is_pod(after)) << to_json(pod) << to_json(after);
  }
  // Otherwise the test has tried nothing.
  EXPECT_GT(changed, 300);
  EXPECT_GT(decoded, 300);
}

}  // namespace
}  // namespace plim::servo
