#include "local/apiserver/schema/defaults.hpp"

#include <array>
#include <string>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "local/apiserver/schema/body_decode.hpp"
#include "local/apiserver/schema/testing/random_object.hpp"

namespace plim::local::apiserver {
namespace {

json::value defaulted(std::string_view group, std::string_view kind, std::string_view text) {
  const Type* type = find_type(group, "v1", kind);
  FieldMistakes mistakes;
  auto body = parse_body(text, mistakes);
  EXPECT_TRUE(body);
  EXPECT_TRUE(conform(*type, *body, mistakes));
  EXPECT_TRUE(mistakes.empty()) << mistakes.front();
  apply_defaults(group, kind, *type, *body);
  return std::move(*body);
}

std::string at(const json::value& object, std::initializer_list<std::string_view> path) {
  const json::value* value = find(object, path);
  return value != nullptr ? to_json(*value) : "";
}

json::value container_of(std::string_view text) {
  json::value pod =
      defaulted("", "Pod", R"({"spec": {"containers": [)" + std::string(text) + "]}}");
  return pod.at("spec").at("containers").at(0);
}

TEST(Defaults, completes_a_pod) {
  EXPECT_EQ(to_json(defaulted("", "Pod", R"({"metadata": {"name": "p"},
                 "spec": {"containers": [{"name": "c", "image": "nginx"}]}})")),
            R"({"metadata":{"name":"p"},"spec":{"containers":[{"name":"c","image":"nginx",)"
            R"("resources":{},"terminationMessagePath":"/dev/termination-log",)"
            R"("terminationMessagePolicy":"File","imagePullPolicy":"Always"}],)"
            R"("restartPolicy":"Always","terminationGracePeriodSeconds":30,)"
            R"("dnsPolicy":"ClusterFirst","securityContext":{},)"
            R"("schedulerName":"default-scheduler","enableServiceLinks":true},)"
            R"("status":{"phase":"Pending","qosClass":"BestEffort"}})");
}

TEST(Defaults, demands_the_file_of_a_variable) {
  json::value container = container_of(R"({"name": "c", "image": "i", "env": [{"name": "A",
      "valueFrom": {"fileKeyRef": {"volumeName": "v", "path": "p", "key": "k"}}}]})");
  EXPECT_EQ(to_json(container.at("env").at(0).at("valueFrom").at("fileKeyRef")),
            R"({"volumeName":"v","path":"p","key":"k","optional":false})");
}

TEST(Defaults, pulls_always_only_tags_that_may_move) {
  const std::array<std::pair<std::string_view, std::string_view>, 7> images = {{
      {"nginx", "Always"},
      {"nginx:latest", "Always"},
      {"registry:5000/nginx", "Always"},
      {"nginx:1.27", "IfNotPresent"},
      {"registry:5000/nginx:1.27", "IfNotPresent"},
      {"nginx@sha256:00", "IfNotPresent"},
      {"", "IfNotPresent"},
  }};
  for (const auto& [image, policy] : images)
    EXPECT_EQ(
        text_at(container_of(R"({"image": ")" + std::string(image) + "\"}"), {"imagePullPolicy"}),
        policy)
        << image;
}

TEST(Defaults, takes_requests_from_limits_in_pods_but_not_in_templates) {
  std::string_view resources =
      R"({"resources": {"limits": {"memory": "1Gi", "cpu": 1}, "requests": {"memory": "1Mi"}}})";
  EXPECT_EQ(at(container_of(resources), {"resources", "requests"}),
            R"({"cpu":"1","memory":"1Mi"})");
  json::value deployment = defaulted(
      "apps", "Deployment",
      R"({"spec": {"template": {"spec": {"containers": [)" + std::string(resources) + "]}}}}");
  const json::value& spec = *find(deployment, {"spec", "template", "spec"});
  EXPECT_EQ(at(spec.at("containers").at(0), {"resources", "requests"}), R"({"memory":"1Mi"})");
  EXPECT_EQ(at(spec, {"enableServiceLinks"}), "");
}

TEST(Defaults, completes_probes_ports_and_sources_of_variables) {
  json::value container = container_of(R"({"ports": [{"containerPort": 80}],
      "livenessProbe": {"httpGet": {"port": 80}},
      "env": [{"name": "A", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}},
              {"name": "B", "valueFrom": {"resourceFieldRef": {"resource": "limits.cpu"}}}]})");
  EXPECT_EQ(at(container, {"ports"}), R"([{"containerPort":80,"protocol":"TCP"}])");
  EXPECT_EQ(at(container, {"livenessProbe"}),
            R"({"httpGet":{"path":"/","port":80,"scheme":"HTTP"},"timeoutSeconds":1,)"
            R"("periodSeconds":10,"successThreshold":1,"failureThreshold":3})");
  EXPECT_EQ(at(container, {"env"}),
            R"([{"name":"A","valueFrom":{"fieldRef":{"apiVersion":"v1",)"
            R"("fieldPath":"metadata.name"}}},{"name":"B","valueFrom":{"resourceFieldRef":)"
            R"({"resource":"limits.cpu","divisor":"0"}}}])");
}

TEST(Defaults, completes_volumes) {
  json::value pod = defaulted("", "Pod", R"({"spec": {"volumes": [{"name": "a"},
      {"name": "b", "configMap": {"name": "m"}}, {"name": "c", "hostPath": {"path": "/"}},
      {"name": "d", "projected": {"sources": [{"serviceAccountToken": {"path": "t"}}]}}]}})");
  EXPECT_EQ(at(pod, {"spec", "volumes"}),
            R"([{"name":"a","emptyDir":{}},{"name":"b","configMap":{"name":"m",)"
            R"("defaultMode":420}},{"name":"c","hostPath":{"path":"/","type":""}},)"
            R"({"name":"d","projected":{"sources":[{"serviceAccountToken":)"
            R"({"expirationSeconds":3600,"path":"t"}}],"defaultMode":420}}])");
}

TEST(Defaults, opens_ports_of_the_host_for_pods_in_its_network) {
  json::value pod = defaulted("", "Pod", R"({"spec": {"hostNetwork": true,
      "containers": [{"ports": [{"containerPort": 80}]}]}})");
  EXPECT_EQ(at(pod.at("spec").at("containers").at(0), {"ports"}),
            R"([{"hostPort":80,"containerPort":80,"protocol":"TCP"}])");
  json::value none = defaulted("", "Pod", R"({"spec": {"hostNetwork": true,
      "containers": [{"ports": [{"containerPort": 0}]}]}})");
  EXPECT_EQ(at(none.at("spec").at("containers").at(0), {"ports"}),
            R"([{"containerPort":0,"protocol":"TCP"}])");
}

TEST(Defaults, sets_both_fields_of_the_service_account) {
  json::value pod = defaulted("", "Pod", R"({"spec": {"serviceAccountName": "builder"}})");
  EXPECT_EQ(text_at(pod, {"spec", "serviceAccount"}), "builder");
}

TEST(Defaults, completes_deployments) {
  json::value deployment = defaulted("apps", "Deployment", "{}");
  EXPECT_EQ(
      at(deployment, {"spec", "strategy"}),
      R"({"type":"RollingUpdate","rollingUpdate":{"maxUnavailable":"25%","maxSurge":"25%"}})");
  EXPECT_EQ(at(deployment, {"spec", "replicas"}), "1");
  EXPECT_EQ(at(deployment, {"spec", "revisionHistoryLimit"}), "10");
  EXPECT_EQ(at(deployment, {"spec", "progressDeadlineSeconds"}), "600");
  EXPECT_EQ(at(defaulted("apps", "Deployment",
                         R"({"spec": {"replicas": 0, "strategy": {"type": "Recreate"}}})"),
               {"spec", "strategy"}),
            R"({"type":"Recreate"})");
}

TEST(Defaults, completes_daemon_sets_and_stateful_sets) {
  json::value daemons = defaulted("apps", "DaemonSet", "{}");
  EXPECT_EQ(at(daemons, {"spec", "updateStrategy"}),
            R"({"type":"RollingUpdate","rollingUpdate":{"maxUnavailable":1,"maxSurge":0}})");
  EXPECT_EQ(at(daemons, {"metadata", "annotations"}),
            R"({"deprecated.daemonset.template.generation":"1"})");
  json::value set = defaulted("apps", "StatefulSet", "{}");
  EXPECT_EQ(at(set, {"spec", "updateStrategy"}),
            R"({"type":"RollingUpdate","rollingUpdate":{"partition":0,"maxUnavailable":1}})");
  EXPECT_EQ(at(set, {"spec", "persistentVolumeClaimRetentionPolicy"}),
            R"({"whenDeleted":"Retain","whenScaled":"Retain"})");
}

TEST(Defaults, completes_jobs_but_not_the_templates_of_cron_jobs) {
  json::value job =
      defaulted("batch", "Job", R"({"spec": {"template": {"metadata": {"labels": {"a": "b"}}}}})");
  job.at("spec").get_object().stable_erase("template");
  EXPECT_EQ(at(job, {"spec"}),
            R"({"parallelism":1,"completions":1,"backoffLimit":6,"manualSelector":false,)"
            R"("completionMode":"NonIndexed","suspend":false,)"
            R"("podReplacementPolicy":"TerminatingOrFailed"})");
  EXPECT_EQ(at(job, {"metadata", "labels"}), R"({"a":"b"})");
  EXPECT_EQ(
      at(defaulted("batch", "Job", R"({"spec": {"parallelism": 3}})"), {"spec", "completions"}),
      "");
  json::value cron = defaulted("batch", "CronJob", "{}");
  EXPECT_EQ(at(cron, {"spec", "jobTemplate", "spec", "backoffLimit"}), "");
  EXPECT_EQ(at(cron, {"spec", "concurrencyPolicy"}), R"("Allow")");
}

TEST(Defaults, completes_services) {
  json::value service = defaulted(
      "", "Service", R"({"spec": {"ports": [{"port": 80}, {"port": 81, "targetPort": "web"}]}})");
  EXPECT_EQ(at(service, {"spec"}),
            R"({"ports":[{"protocol":"TCP","port":80,"targetPort":80},)"
            R"({"protocol":"TCP","port":81,"targetPort":"web"}],"type":"ClusterIP",)"
            R"("sessionAffinity":"None","internalTrafficPolicy":"Cluster"})");
  EXPECT_EQ(at(defaulted("", "Service", R"({"spec": {"sessionAffinity": "ClientIP"}})"),
               {"spec", "sessionAffinityConfig"}),
            R"({"clientIP":{"timeoutSeconds":10800}})");
  EXPECT_EQ(at(defaulted("", "Service", R"({"spec": {"type": "NodePort"}})"),
               {"spec", "externalTrafficPolicy"}),
            R"("Cluster")");
}

TEST(Defaults, completes_webhooks) {
  json::value config =
      defaulted("admissionregistration.k8s.io", "MutatingWebhookConfiguration",
                R"({"webhooks": [{"name": "w", "rules": [{"operations": ["CREATE"]}],
                                      "clientConfig": {"service": {"name": "s", "namespace": "n"}}}]})");
  EXPECT_EQ(at(config, {"webhooks"}),
            R"([{"name":"w","clientConfig":{"service":{"namespace":"n","name":"s","port":443}},)"
            R"("rules":[{"operations":["CREATE"],"scope":"*"}],"failurePolicy":"Fail",)"
            R"("matchPolicy":"Equivalent","namespaceSelector":{},"objectSelector":{},)"
            R"("timeoutSeconds":10,"reinvocationPolicy":"Never"}])");
}

TEST(Defaults, merges_stringData_of_secrets_into_data) {
  EXPECT_EQ(
      to_json(defaulted("", "Secret",
                        R"({"stringData": {"b": "hello", "a": "x"}, "data": {"b": "eA=="}})")),
      R"({"metadata":{},"data":{"a":"eA==","b":"aGVsbG8="},"type":"Opaque"})");
}

TEST(Defaults, completes_the_other_kinds) {
  EXPECT_EQ(to_json(defaulted("", "Namespace", R"({"metadata": {"name": "n"}})")),
            R"({"metadata":{"name":"n","labels":{"kubernetes.io/metadata.name":"n"}},"spec":{},)"
            R"("status":{"phase":"Active"}})");
  EXPECT_EQ(at(defaulted("", "Node", R"({"status": {"capacity": {"cpu": "1"}}})"),
               {"status", "allocatable"}),
            R"({"cpu":"1"})");
  EXPECT_EQ(at(defaulted("rbac.authorization.k8s.io", "RoleBinding",
                         R"({"subjects": [{"kind": "User", "name": "u"}],
                             "roleRef": {"kind": "Role", "name": "r"}})"),
               {"subjects"}),
            R"([{"kind":"User","apiGroup":"rbac.authorization.k8s.io","name":"u"}])");
  EXPECT_EQ(at(defaulted("rbac.authorization.k8s.io", "RoleBinding",
                         R"({"roleRef": {"kind": "Role", "name": "r"}})"),
               {"roleRef", "apiGroup"}),
            R"("rbac.authorization.k8s.io")");
  EXPECT_EQ(at(defaulted("", "LimitRange", R"({"spec": {"limits": [{"type": "Container",
                   "max": {"cpu": "2"}, "min": {"memory": "1Mi"}}]}})"),
               {"spec", "limits"}),
            R"([{"type":"Container","max":{"cpu":"2"},"min":{"memory":"1Mi"},)"
            R"("default":{"cpu":"2"},"defaultRequest":{"cpu":"2","memory":"1Mi"}}])");
}

RC_GTEST_PROP(Defaults, completing_twice_changes_nothing, ()) {
  const std::array types = {find_type("", "v1", "Pod"),
                            find_type("", "v1", "Service"),
                            find_type("apps", "v1", "DaemonSet"),
                            find_type("batch", "v1", "Job"),
                            find_type("apps", "v1", "StatefulSet"),
                            find_type("", "v1", "LimitRange"),
                            find_type("", "v1", "Secret"),
                            find_type("networking.k8s.io", "v1", "NetworkPolicy")};
  auto seed = *rc::gen::arbitrary<std::uint32_t>();
  const Type& type = *types[seed % types.size()];
  json::value once = testing::random_object(type, seed, testing::Garbage::none);
  FieldMistakes mistakes;
  RC_ASSERT(conform(type, once, mistakes).has_value());
  apply_defaults("", "", type, once);
  json::value twice = once;
  apply_defaults("", "", type, twice);
  RC_ASSERT(to_json(twice) == to_json(once));
  // Defaults are in the canonical form in which they are stored.
  RC_ASSERT(conform(type, twice, mistakes).has_value());
  RC_ASSERT(to_json(twice) == to_json(once));
}

}  // namespace
}  // namespace plim::local::apiserver
