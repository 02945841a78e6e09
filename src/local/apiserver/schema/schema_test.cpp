#include "local/apiserver/schema/schema.hpp"

#include <set>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "base/json.hpp"
#include "base/text.hpp"

namespace plim::local::apiserver {
namespace {

const Type& type_of(std::string_view group, std::string_view version, std::string_view kind) {
  const Type* type = find_type(group, version, kind);
  PLIM_ASSERT(type != nullptr);
  return *type;
}

// All types that are reachable from the largest kinds.
std::set<const Type*> reachable_types() {
  std::set<const Type*> seen;
  std::vector<const Type*> todo = {
      &object_meta_type(),
      &type_of("", "v1", "DeleteOptions"),
      &type_of("", "v1", "Pod"),
      &type_of("", "v1", "Node"),
      &type_of("", "v1", "Service"),
      &type_of("", "v1", "Endpoints"),
      &type_of("", "v1", "PersistentVolume"),
      &type_of("", "v1", "PersistentVolumeClaim"),
      &type_of("apps", "v1", "StatefulSet"),
      &type_of("apps", "v1", "DaemonSet"),
      &type_of("apps", "v1", "Deployment"),
      &type_of("batch", "v1", "CronJob"),
      &type_of("policy", "v1", "PodDisruptionBudget"),
      &type_of("resource.k8s.io", "v1", "ResourceClaim"),
      &type_of("resource.k8s.io", "v1", "ResourceSlice"),
      &type_of("storage.k8s.io", "v1", "CSIDriver"),
      &type_of("networking.k8s.io", "v1", "Ingress"),
      &type_of("networking.k8s.io", "v1", "NetworkPolicy"),
      &type_of("autoscaling", "v2", "HorizontalPodAutoscaler"),
      &type_of("admissionregistration.k8s.io", "v1", "MutatingWebhookConfiguration"),
      &type_of("admissionregistration.k8s.io", "v1", "ValidatingAdmissionPolicy"),
      &type_of("apiextensions.k8s.io", "v1", "CustomResourceDefinition")};
  while (!todo.empty()) {
    const Type* type = todo.back();
    todo.pop_back();
    if (!seen.insert(type).second) continue;
    for (const Field& field : type->fields)
      if (field.type != nullptr) todo.push_back(field.type);
  }
  return seen;
}

const Field* field_at(const Type* type, std::string_view path) {
  const Field* field = nullptr;
  for (std::string_view name : split(path, '.')) {
    if (type == nullptr) return nullptr;
    field = type->find(name);
    if (field == nullptr) return nullptr;
    type = field->type;
  }
  return field;
}

TEST(Schema, every_table_is_consistent) {
  for (const Type* type : reachable_types()) {
    std::set<std::string_view> names;
    std::set<std::pair<int, int>> numbers;
    for (const Field& field : type->fields) {
      SCOPED_TRACE(std::string(type->name) + "." + std::string(field.name));
      EXPECT_TRUE(names.insert(field.name).second) << "twice";
      if (field.number != 0) {
        EXPECT_TRUE(numbers.insert({field.inside, field.number}).second) << "number used twice";
      }
      EXPECT_EQ(field.type != nullptr, field.scalar == Scalar::object);
      EXPECT_FALSE(field.keep_zero && field.required_zero);
      EXPECT_EQ(field.list == ListKind::map, !field.list_keys.empty());
      if (field.shape != Shape::list) {
        EXPECT_EQ(field.list, ListKind::atomic);
        EXPECT_TRUE(field.merge_key.empty());
      }
      if (!field.merge_key.empty()) {
        ASSERT_NE(field.type, nullptr);
        EXPECT_NE(field.type->find(field.merge_key), nullptr);
      }
      for (std::string_view key : split(field.list_keys, ','))
        if (!key.empty()) {
          EXPECT_NE(field.type->find(key), nullptr) << key;
        }
      if (!field.fallback.empty()) {
        EXPECT_TRUE(parse_json(field.fallback)) << field.fallback;
      }
    }
  }
}

TEST(Schema, has_every_served_kind) {
  const std::pair<std::string_view, std::string_view> kinds[] = {
      {"",
       "Pod,Node,Namespace,Service,Endpoints,Event,ConfigMap,Secret,ServiceAccount,Binding,"
       "ReplicationController,PersistentVolume,PersistentVolumeClaim,LimitRange,ResourceQuota,"
       "PodTemplate,DeleteOptions"},
      {"apps", "Deployment,ReplicaSet,DaemonSet,StatefulSet,ControllerRevision"},
      {"batch", "Job,CronJob"},
      {"policy", "PodDisruptionBudget,Eviction"},
      {"coordination.k8s.io", "Lease"},
      {"events.k8s.io", "Event"},
      {"discovery.k8s.io", "EndpointSlice"},
      {"scheduling.k8s.io", "PriorityClass"},
      {"node.k8s.io", "RuntimeClass"},
      {"storage.k8s.io", "StorageClass,CSINode,CSIDriver,CSIStorageCapacity,VolumeAttachment"},
      {"resource.k8s.io",
       "ResourceClaim,ResourceClaimTemplate,ResourceSlice,DeviceClass,DeviceTaintRule"},
      {"rbac.authorization.k8s.io", "Role,RoleBinding,ClusterRole,ClusterRoleBinding"},
      {"authentication.k8s.io", "TokenReview,SelfSubjectReview,TokenRequest"},
      {"authorization.k8s.io",
       "SubjectAccessReview,LocalSubjectAccessReview,SelfSubjectAccessReview,"
       "SelfSubjectRulesReview"},
      {"admissionregistration.k8s.io",
       "MutatingWebhookConfiguration,ValidatingWebhookConfiguration,ValidatingAdmissionPolicy,"
       "ValidatingAdmissionPolicyBinding"},
      {"apiextensions.k8s.io", "CustomResourceDefinition"},
      {"autoscaling", "Scale"},
      {"networking.k8s.io", "Ingress,IngressClass,NetworkPolicy"},
  };
  for (const auto& [group, names] : kinds)
    for (std::string_view kind : split(names, ',')) {
      const Type* type = find_type(group, "v1", kind);
      ASSERT_NE(type, nullptr) << group << " " << kind;
      EXPECT_EQ(type->name, kind);
    }
  EXPECT_NE(find_type("autoscaling", "v2", "HorizontalPodAutoscaler"), nullptr);
  EXPECT_NE(find_type("metrics.k8s.io", "v1beta1", "PodMetrics"), nullptr);
  EXPECT_EQ(find_type("", "v1", "Deployment"), nullptr);
  EXPECT_EQ(find_type("apps", "v1beta1", "Deployment"), nullptr);
}

TEST(Schema, distinguishes_the_two_kinds_of_events) {
  EXPECT_NE(type_of("", "v1", "Event").find("involvedObject"), nullptr);
  EXPECT_NE(type_of("events.k8s.io", "v1", "Event").find("regarding"), nullptr);
}

TEST(Schema, has_the_merge_keys_that_clients_rely_on) {
  const Type& pod = type_of("", "v1", "Pod");
  const std::pair<std::string_view, std::string_view> keys[] = {
      {"spec.containers", "name"},
      {"spec.initContainers", "name"},
      {"spec.containers.env", "name"},
      {"spec.containers.ports", "containerPort"},
      {"spec.containers.volumeMounts", "mountPath"},
      {"spec.containers.volumeDevices", "devicePath"},
      {"spec.volumes", "name"},
      {"spec.imagePullSecrets", "name"},
      {"spec.schedulingGates", "name"},
      {"spec.topologySpreadConstraints", "topologyKey"},
      {"spec.hostAliases", "ip"},
      {"status.conditions", "type"},
      {"status.podIPs", "ip"},
      {"metadata.ownerReferences", "uid"},
  };
  for (const auto& [path, key] : keys) {
    const Field* field = field_at(&pod, path);
    ASSERT_NE(field, nullptr) << path;
    EXPECT_TRUE(field->merge) << path;
    EXPECT_EQ(field->merge_key, key) << path;
  }
  EXPECT_TRUE(field_at(&pod, "spec.volumes")->retain_keys);
  EXPECT_FALSE(field_at(&pod, "spec.tolerations")->merge);
  EXPECT_FALSE(field_at(&pod, "spec.containers.args")->merge);
  EXPECT_FALSE(field_at(&type_of("", "v1", "Node"), "spec.taints")->merge);
  const Field* ports = field_at(&type_of("", "v1", "Service"), "spec.ports");
  EXPECT_EQ(ports->merge_key, "port");
  EXPECT_EQ(ports->list_keys, "port,protocol");
}

TEST(Schema, has_the_numbers_of_embedded_messages) {
  const Field* host_path = field_at(&type_of("", "v1", "Pod"), "spec.volumes.hostPath");
  EXPECT_EQ(host_path->number, 1);
  EXPECT_EQ(host_path->inside, 2);
}

}  // namespace
}  // namespace plim::local::apiserver
