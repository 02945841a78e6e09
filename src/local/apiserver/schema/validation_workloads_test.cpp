#include <string>

#include <fmt/format.h>
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

// A workload whose pods have the label a=1.
std::string workload(std::string_view spec, std::string_view pod = "") {
  return fmt::format(R"({{"metadata": {{"name": "w"}}, "spec": {{{} "template": {{"metadata":
      {{"labels": {{"a": "1"}}}}, "spec": {{{} "containers": [{{"name": "c", "image": "i"}}]}}}}}}}})",
                     spec, pod);
}

constexpr std::string_view kSelector = R"("selector": {"matchLabels": {"a": "1"}},)";
constexpr std::string_view kNever = R"("restartPolicy": "Never",)";

TEST(WorkloadValidation, accepts_workloads_of_every_kind) {
  for (std::string_view kind : {"Deployment", "ReplicaSet", "DaemonSet", "StatefulSet"})
    EXPECT_THAT(faults("apps", kind, workload(kSelector)), IsEmpty()) << kind;
  EXPECT_THAT(faults("", "ReplicationController", workload("")), IsEmpty());
  EXPECT_THAT(faults("batch", "Job", workload("", kNever)), IsEmpty());
}

TEST(WorkloadValidation, requires_a_selector_that_matches_its_template) {
  EXPECT_THAT(faults("apps", "Deployment", workload("")),
              ElementsAre("spec.selector: Required value",
                          "spec.template.metadata.labels: Invalid value: {\"a\":\"1\"}: `selector` "
                          "does not match template `labels`"));
  EXPECT_THAT(faults("apps", "Deployment", workload(R"("selector": {},)")),
              ElementsAre("spec.selector: Invalid value: {}: empty selector is invalid for "
                          "deployment"));
  EXPECT_THAT(faults("apps", "Deployment", workload(R"("selector": {"matchLabels": {"a": "2"}},)")),
              ElementsAre("spec.template.metadata.labels: Invalid value: {\"a\":\"1\"}: `selector` "
                          "does not match template `labels`"));
}

TEST(WorkloadValidation, rejects_changes_of_selectors) {
  std::string other =
      workload(R"("selector": {"matchExpressions": [{"key": "a", "operator": "Exists"}]},)");
  for (std::string_view kind : {"Deployment", "ReplicaSet", "DaemonSet", "StatefulSet"})
    EXPECT_THAT(faults_of_update("apps", kind, workload(kSelector), other),
                ElementsAre(HasSubstr("field is immutable")))
        << kind;
}

TEST(WorkloadValidation, checks_templates_and_counts) {
  EXPECT_THAT(
      faults("apps", "Deployment",
             workload(R"("replicas": -1, )" + std::string(kSelector), kNever)),
      ElementsAre("spec.replicas: Invalid value: -1: must be greater than or equal to 0",
                  "spec.template.spec.restartPolicy: Unsupported value: \"Never\": supported "
                  "values: \"Always\""));
  EXPECT_THAT(faults("apps", "Deployment",
                     workload(R"("strategy": {"rollingUpdate":
                     {"maxSurge": 0, "maxUnavailable": "0%"}}, )" +
                              std::string(kSelector))),
              ElementsAre(HasSubstr("may not be 0 when `maxSurge` is 0")));
  EXPECT_THAT(faults("apps", "Deployment",
                     R"({"metadata": {"name": "w"}, "spec": {"template": {}, )" +
                         std::string(R"("selector": {"matchLabels": {"a": "1"}}}})")),
              ElementsAre(HasSubstr("`selector` does not match template `labels`"),
                          "spec.template.spec.containers: Required value"));
}

TEST(WorkloadValidation, rejects_jobs_that_restart_always) {
  EXPECT_THAT(faults("batch", "Job", workload("")),
              ElementsAre("spec.template.spec.restartPolicy: Required value: valid values: "
                          R"("OnFailure", "Never")"));
  EXPECT_THAT(
      faults("batch", "Job", workload(R"("completionMode": "Indexed", "parallelism": 2,)", kNever)),
      ElementsAre("spec.completions: Required value: when completion mode is Indexed"));
}

TEST(WorkloadValidation, rejects_changes_of_the_template_of_a_job) {
  std::string other = workload("", R"("restartPolicy": "OnFailure",)");
  EXPECT_THAT(faults_of_update("batch", "Job", workload("", kNever), other),
              ElementsAre(HasSubstr("field is immutable")));
  EXPECT_THAT(faults_of_update("batch", "Job", workload("", kNever),
                               workload(R"("parallelism": 3, "completions": 1,)", kNever)),
              IsEmpty());
  EXPECT_THAT(faults_of_update("batch", "Job", workload("", kNever),
                               workload(R"("completions": 5,)", kNever)),
              ElementsAre("spec.completions: Invalid value: 5: field is immutable"));
}

TEST(WorkloadValidation, allows_changing_the_placement_of_a_suspended_job) {
  std::string directed = std::string(kNever) + R"("nodeSelector": {"pool": "a"},)";
  std::string_view suspend = R"("suspend": true,)";
  EXPECT_THAT(faults_of_update("batch", "Job", workload(suspend, kNever), workload("", directed)),
              IsEmpty());
  EXPECT_THAT(faults_of_update("batch", "Job", workload("", kNever), workload("", directed)),
              ElementsAre(HasSubstr("spec.template: Invalid value")));
}

TEST(WorkloadValidation, checks_cron_jobs) {
  EXPECT_THAT(
      faults("batch", "CronJob", R"({"metadata": {"name": "w"}, "spec": {"jobTemplate":
                 {"spec": {"template": {"spec": {"containers": [{"name": "c", "image": "i"}]}}}}}})"),
      ElementsAre("spec.schedule: Required value",
                  "spec.jobTemplate.spec.template.spec.restartPolicy: Required value: valid "
                  R"(values: "OnFailure", "Never")"));
}

}  // namespace
}  // namespace plim::local::apiserver
