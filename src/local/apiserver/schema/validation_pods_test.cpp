#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "local/apiserver/schema/testing/checked.hpp"

namespace plim::local::apiserver {
namespace {

using ::testing::ElementsAre;
using testing::faults;
using testing::faults_of_update;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

std::string pod(std::string_view spec) {
  return R"({"metadata": {"name": "p"}, "spec": {)" + std::string(spec) + "}}";
}

std::string pod_with(std::string_view container) {
  return pod(R"("containers": [{"name": "c", "image": "i", )" + std::string(container) + "}]");
}

std::vector<std::string> faults_with(std::string_view container) {
  return faults("", "Pod", pod_with(container));
}

std::vector<std::string> faults_of_change(std::string_view before, std::string_view after) {
  return faults_of_update("", "Pod", pod(before), pod(after));
}

TEST(PodValidation, requires_a_container) {
  EXPECT_THAT(faults("", "Pod", pod("")), ElementsAre("spec.containers: Required value"));
}

TEST(PodValidation, requires_names_and_images) {
  EXPECT_THAT(faults("", "Pod", pod(R"("containers": [{}])")),
              ElementsAre("spec.containers[0].name: Required value",
                          "spec.containers[0].image: Required value"));
  EXPECT_THAT(
      faults("", "Pod", pod(R"("containers": [{"name": "a.b", "image": "i"}])")),
      ElementsAre(R"(spec.containers[0].name: Invalid value: "a.b": must not contain dots)"));
}

TEST(PodValidation, requires_unique_names) {
  EXPECT_THAT(
      faults("", "Pod",
             pod(R"("containers": [{"name": "a", "image": "i"}, {"name": "a", "image": "i"}],
                                       "initContainers": [{"name": "a", "image": "i"}])")),
      ElementsAre(R"(spec.containers[1].name: Duplicate value: "a")",
                  R"(spec.initContainers[0].name: Duplicate value: "a")"));
}

TEST(PodValidation, limits_the_range_of_ports) {
  EXPECT_THAT(
      faults_with(R"("ports": [{"containerPort": 65535}, {"containerPort": 65536}, {},
                               {"containerPort": 1, "protocol": "FTP"}])"),
      ElementsAre("spec.containers[0].ports[1].containerPort: Invalid value: 65536: must be "
                  "between 1 and 65535, inclusive",
                  "spec.containers[0].ports[2].containerPort: Required value",
                  "spec.containers[0].ports[3].protocol: Unsupported value: \"FTP\": "
                  R"(supported values: "SCTP", "TCP", "UDP")"));
}

TEST(PodValidation, requires_requests_within_limits) {
  EXPECT_THAT(faults_with(R"("resources": {"requests": {"cpu": "1"}, "limits": {"cpu": "2"}})"),
              IsEmpty());
  EXPECT_THAT(
      faults_with(R"("resources": {"requests": {"cpu": "2"}, "limits": {"cpu": "1"}})"),
      ElementsAre("spec.containers[0].resources.requests: Invalid value: \"2\": must be less "
                  "than or equal to cpu limit of 1"));
  EXPECT_THAT(
      faults_with(R"("resources": {"limits": {"memory": "-1"}, "requests": {"memory": "-1"}})"),
      ElementsAre("spec.containers[0].resources.limits[memory]: Invalid value: \"-1\": must "
                  "be greater than or equal to 0",
                  "spec.containers[0].resources.requests[memory]: Invalid value: \"-1\": "
                  "must be greater than or equal to 0"));
}

TEST(PodValidation, requires_whole_extended_resources_with_equal_limits) {
  EXPECT_THAT(faults_with(R"("resources": {"limits": {"x.io/gpu": "2"}})"), IsEmpty());
  EXPECT_THAT(
      faults_with(R"("resources": {"limits": {"x.io/gpu": "2"}, "requests": {"x.io/gpu": "1"}})"),
      ElementsAre("spec.containers[0].resources.requests: Invalid value: \"1\": must be equal "
                  "to x.io/gpu limit of 2"));
  EXPECT_THAT(faults_with(R"("resources": {"requests": {"x.io/gpu": "1"}})"),
              ElementsAre("spec.containers[0].resources.limits: Required value: Limit must be set "
                          "for non overcommitable resources"));
  EXPECT_THAT(
      faults_with(R"("resources": {"limits": {"x.io/gpu": "1500m"}})"),
      ElementsAre(HasSubstr("limits[x.io/gpu]: Invalid value: \"1500m\": must be an integer"),
                  HasSubstr("must be an integer")));
  EXPECT_THAT(faults_with(R"("resources": {"limits": {"gpu": "1"}})"),
              ::testing::Contains(HasSubstr("must be a standard resource for containers")));
}

TEST(PodValidation, accepts_only_known_restart_policies) {
  EXPECT_THAT(
      faults("", "Pod",
             pod(R"("restartPolicy": "Maybe", "containers": [{"name": "c", "image": "i"}])")),
      ElementsAre("spec.restartPolicy: Unsupported value: \"Maybe\": supported values: "
                  R"("Always", "OnFailure", "Never")"));
}

constexpr std::string_view kPlain = R"("containers": [{"name": "c", "image": "i:1"}])";

TEST(PodValidation, allows_changes_of_images_and_tolerations) {
  EXPECT_THAT(faults_of_change(kPlain, R"("containers": [{"name": "c", "image": "i:2"}])"),
              IsEmpty());
  EXPECT_THAT(faults_of_change(kPlain, R"("tolerations": [{"key": "a", "operator": "Exists"}], )" +
                                           std::string(kPlain)),
              IsEmpty());
  EXPECT_THAT(faults_of_change(kPlain, R"("activeDeadlineSeconds": 5, )" + std::string(kPlain)),
              IsEmpty());
}

TEST(PodValidation, rejects_other_changes_of_the_spec) {
  EXPECT_THAT(
      faults_of_change(kPlain, R"("containers": [{"name": "d", "image": "i:1"}])"),
      ElementsAre(StartsWith("spec: Forbidden: pod updates may not change fields other than "
                             "`spec.containers[*].image`")));
  EXPECT_THAT(faults_of_change(kPlain, R"("nodeName": "n", )" + std::string(kPlain)),
              ElementsAre(StartsWith("spec: Forbidden")));
  EXPECT_THAT(
      faults_of_change(
          kPlain, R"("containers": [{"name": "c", "image": "i:1"}, {"name": "d", "image": "j"}])"),
      ElementsAre("spec.containers: Forbidden: pod updates may not add or remove containers"));
  EXPECT_THAT(faults_of_change(R"("tolerations": [{"key": "a"}], )" + std::string(kPlain), kPlain),
              ElementsAre("spec.tolerations: Forbidden: existing toleration can not be modified "
                          "except its tolerationSeconds"));
}

TEST(PodValidation, allows_only_shorter_deadlines) {
  std::string five = R"("activeDeadlineSeconds": 5, )" + std::string(kPlain);
  std::string six = R"("activeDeadlineSeconds": 6, )" + std::string(kPlain);
  EXPECT_THAT(faults_of_change(six, five), IsEmpty());
  EXPECT_THAT(
      faults_of_change(five, six),
      ElementsAre("spec.activeDeadlineSeconds: Invalid value: 6: must be less than or equal "
                  "to previous value"));
  EXPECT_THAT(faults_of_change(five, kPlain),
              ElementsAre(HasSubstr("must not update from a positive integer to nil value")));
}

TEST(PodValidation, allows_removing_gates_and_placing_gated_pods) {
  std::string held = R"("schedulingGates": [{"name": "g"}], )" + std::string(kPlain);
  EXPECT_THAT(faults_of_change(held, kPlain), IsEmpty());
  EXPECT_THAT(faults_of_change(held, R"("nodeSelector": {"a": "b"}, )" + held), IsEmpty());
  EXPECT_THAT(faults_of_change(kPlain, held),
              ElementsAre("spec.schedulingGates[0].name: Forbidden: only deletion is allowed, but "
                          "found new scheduling gate 'g'"));
}

}  // namespace
}  // namespace plim::local::apiserver
