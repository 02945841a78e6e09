#include "local/apiserver/schema/validation.hpp"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "local/apiserver/schema/body_decode.hpp"
#include "local/apiserver/schema/defaults.hpp"
#include "local/apiserver/schema/testing/checked.hpp"
#include "local/apiserver/schema/testing/random_object.hpp"

namespace plim::local::apiserver {
namespace {

using ::testing::ElementsAre;
using testing::faults;
using testing::faults_of_update;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

std::string map_with(std::string_view metadata) {
  return R"({"metadata": {"name": "m", )" + std::string(metadata) + "}}";
}

TEST(Validation, requires_a_name) {
  EXPECT_THAT(faults("", "ConfigMap", "{}"),
              ElementsAre("metadata.name: Required value: name or generateName is required"));
  EXPECT_THAT(faults("", "ConfigMap", R"({"metadata": {"generateName": "m-"}})"), IsEmpty());
}

TEST(Validation, checks_names_by_the_rule_of_their_kind) {
  auto named = [](std::string_view group, std::string_view kind, std::string_view name) {
    json::value object = {{"metadata", {{"name", name}}}};
    return validate(group, kind, object, nullptr);
  };
  EXPECT_THAT(named("", "ConfigMap", "a.b-c.1"), IsEmpty());
  EXPECT_EQ(named("", "ConfigMap", "A_b").front().message,
            "Invalid value: \"A_b\": a lowercase RFC 1123 subdomain must consist of lower case "
            "alphanumeric characters, '-' or '.', and must start and end with an alphanumeric "
            "character (e.g. 'example.com', regex used for validation is "
            R"('[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*'))");
  EXPECT_EQ(named("", "Namespace", "a.b").front().message,
            R"(Invalid value: "a.b": must not contain dots)");
  EXPECT_EQ(named("", "ConfigMap", std::string(254, 'a')).size(), 1u);
  EXPECT_EQ(named("", "Namespace", std::string(64, 'a')).size(), 1u);
  EXPECT_THAT(named("rbac.authorization.k8s.io", "ClusterRole", "system:node"), IsEmpty());
  EXPECT_EQ(named("rbac.authorization.k8s.io", "ClusterRole", "a/b").front().message,
            R"(Invalid value: "a/b": may not contain '/')");
  EXPECT_EQ(named("example.com", "Widget", "a/b").size(), 1u);
}

TEST(Validation, checks_labels_and_annotations) {
  EXPECT_THAT(faults("", "ConfigMap", map_with(R"("labels": {"example.com/a": "", "b": "c_D.1"})")),
              IsEmpty());
  EXPECT_THAT(
      faults("", "ConfigMap", map_with(R"("labels": {"a": "b c"})")),
      ElementsAre(StartsWith(R"(metadata.labels: Invalid value: "b c": a valid label must)")));
  EXPECT_THAT(
      faults("", "ConfigMap", map_with(R"("labels": {"/a": ""})")),
      ElementsAre(R"(metadata.labels: Invalid value: "/a": prefix part must be non-empty)"));
  EXPECT_THAT(faults("", "ConfigMap", map_with(R"("annotations": {"Example.com/A": "any thing"})")),
              IsEmpty());
  EXPECT_THAT(faults("", "ConfigMap",
                     map_with(R"("annotations": {"a": ")" + std::string(300'000, 'x') + "\"}")),
              ElementsAre("metadata.annotations: Too long: may not be more than 262144 bytes"));
}

TEST(Validation, checks_owners_and_finalizers) {
  EXPECT_THAT(
      faults("", "ConfigMap",
             map_with(R"("ownerReferences": [{"apiVersion": "v1", "kind": "Pod", "name": "p"}])")),
      ElementsAre("metadata.ownerReferences[0].uid: Required value: must not be empty"));
  EXPECT_THAT(faults("", "ConfigMap", map_with(R"("finalizers": ["x.io/a b"])")),
              ElementsAre(HasSubstr("name part must consist of")));
  EXPECT_THAT(faults("", "ConfigMap", map_with(R"("finalizers": ["orphan", "mine"])")),
              ElementsAre(HasSubstr("nor is it fully qualified")));
  EXPECT_THAT(
      faults_of_update(
          "", "ConfigMap",
          map_with(R"("deletionTimestamp": "2024-01-02T03:04:05Z", "finalizers": ["x.io/a"])"),
          map_with(R"("finalizers": ["x.io/a", "x.io/b"])")),
      ElementsAre("metadata.finalizers: Forbidden: no new finalizers can be added if the "
                  "object is being deleted, found new finalizers []string{\"x.io/b\"}"));
}

TEST(Validation, has_the_messages_of_upstream) {
  Cause missing{"FieldValueRequired", "Required value", "spec.containers"};
  Cause forbidden{"FieldValueForbidden", "Forbidden: no", "spec"};
  EXPECT_EQ(invalid_message("", "Pod", "x", {missing}),
            R"(Pod "x" is invalid: spec.containers: Required value)");
  EXPECT_EQ(
      invalid_message("apps", "Deployment", "x", {missing, forbidden, missing}),
      R"(Deployment.apps "x" is invalid: [spec.containers: Required value, spec: Forbidden: no])");
  EXPECT_EQ(invalid_message("", "Pod", "", {}), R"(Pod "" is invalid)");
}

TEST(Validation, checks_services) {
  EXPECT_THAT(
      faults("", "Service", R"({"metadata": {"name": "s"}, "spec": {"ports": [{"port": 80}]}})"),
      IsEmpty());
  EXPECT_THAT(faults("", "Service", R"({"metadata": {"name": "s"}})"),
              ElementsAre("spec.ports: Required value"));
  EXPECT_THAT(
      faults("", "Service", R"({"metadata": {"name": "s"}, "spec": {"clusterIP": "None"}})"),
      IsEmpty());
  EXPECT_THAT(faults("", "Service", R"({"metadata": {"name": "s"}, "spec": {"ports": [
                        {"port": 80, "name": "a"}, {"port": 70000, "targetPort": 1, "name": "a"}]}})"),
              ElementsAre(R"(spec.ports[1].name: Duplicate value: "a")",
                          "spec.ports[1].port: Invalid value: 70000: must be between 1 and 65535, "
                          "inclusive"));
}

TEST(Validation, rejects_changes_of_immutable_config_maps_and_secrets) {
  std::string_view sealed =
      R"({"metadata": {"name": "m"}, "immutable": true, "data": {"a": "eA=="}})";
  std::string_view changed = R"({"metadata": {"name": "m"}, "data": {"a": "eQ=="}})";
  for (std::string_view kind : {"ConfigMap", "Secret"})
    EXPECT_THAT(faults_of_update("", kind, sealed, changed),
                ElementsAre("immutable: Forbidden: field is immutable when `immutable` is set",
                            "data: Forbidden: field is immutable when `immutable` is set"));
  EXPECT_THAT(faults("", "ConfigMap", R"({"metadata": {"name": "m"}, "data": {"a b": ""}})"),
              ElementsAre(HasSubstr("a valid config key must")));
  EXPECT_THAT(faults_of_update("", "Secret", R"({"metadata": {"name": "s"}})",
                               R"({"metadata": {"name": "s"}, "type": "example.com/x"})"),
              ElementsAre(R"(type: Invalid value: "example.com/x": field is immutable)"));
}

TEST(Validation, rejects_changes_of_the_role_of_a_binding) {
  std::string_view one = R"({"metadata": {"name": "b"}, "roleRef": {"kind": "Role", "name": "r"}})";
  std::string_view two = R"({"metadata": {"name": "b"}, "roleRef": {"kind": "Role", "name": "s"}})";
  EXPECT_THAT(faults_of_update("rbac.authorization.k8s.io", "RoleBinding", one, two),
              ElementsAre(HasSubstr("roleRef: Invalid value")));
}

// Validation of any object returns a list of causes and never crashes.
RC_GTEST_PROP(Validation, survives_any_object, ()) {
  struct Kind {
    std::string_view group, kind;
  };

  const Kind kinds[] = {{"", "Pod"},
                        {"apps", "Deployment"},
                        {"apps", "StatefulSet"},
                        {"batch", "Job"},
                        {"batch", "CronJob"},
                        {"", "Service"},
                        {"", "ConfigMap"},
                        {"", "Secret"},
                        {"apps", "DaemonSet"},
                        {"", "ReplicationController"}};
  auto seed = *rc::gen::arbitrary<std::uint32_t>();
  const Kind& kind = kinds[seed % std::size(kinds)];
  const Type& type = *find_type(kind.group, "v1", kind.kind);
  json::value garbage = testing::random_object(type, seed, testing::Garbage::some);
  static_cast<void>(validate(kind.group, kind.kind, garbage, nullptr));
  json::value object = testing::random_object(type, seed + 1, testing::Garbage::none);
  FieldMistakes mistakes;
  RC_ASSERT(conform(type, object, mistakes).has_value());
  apply_defaults(kind.group, kind.kind, type, object);
  static_cast<void>(validate(kind.group, kind.kind, object, &garbage));
  // An unchanged object violates no rule about changes.
  auto created = validate(kind.group, kind.kind, object, nullptr);
  RC_ASSERT(validate(kind.group, kind.kind, object, &object).size() <= created.size());
}

}  // namespace
}  // namespace plim::local::apiserver
