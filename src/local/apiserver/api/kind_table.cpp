#include "local/apiserver/api/kind_table.hpp"

#include <utility>

#include "local/apiserver/api/events.hpp"

namespace plim::local::apiserver {
namespace {

using Names = std::vector<std::string>;

const Names kAllVerbs{"create", "delete", "deletecollection", "get",
                      "list",   "patch",  "update",           "watch"};
const Names kNoCollectionDelete{"create", "delete", "get", "list", "patch", "update", "watch"};
const Names kCreate{"create"};
const Names kRead{"get", "list"};
const Names kWrite{"get", "patch", "update"};
const Names kConnect{"create", "get"};
const Names kProxy{"create", "delete", "get", "patch", "update"};

// One row; chained calls set what differs from a plain namespaced kind.
struct Row : Kind {
  Row(std::string its_group, std::string its_version, std::string its_plural,
      std::string its_kind) {
    group = std::move(its_group);
    version = std::move(its_version);
    plural = std::move(its_plural);
    kind = std::move(its_kind);
    verbs = kAllVerbs;
  }

  Row&& alias(Names names) && {
    short_names = std::move(names);
    return std::move(*this);
  }

  Row&& in_all() && {
    categories.emplace_back("all");
    return std::move(*this);
  }

  Row&& in_category(std::string name) && {
    categories.push_back(std::move(name));
    return std::move(*this);
  }

  Row&& cluster() && {
    namespaced = false;
    return std::move(*this);
  }

  Row&& only(Names names) && {
    verbs = std::move(names);
    return std::move(*this);
  }

  Row&& counts(Generation what) && {
    generation = what;
    return std::move(*this);
  }

  Row&& with_status() && { return std::move(*this).sub("status", kind, kWrite); }

  Row&& with_scale() && {
    return std::move(*this).sub("scale", "Scale", kWrite, "autoscaling", "v1");
  }

  Row&& sub(std::string name, std::string sub_kind, Names sub_verbs, std::string sub_group = {},
            std::string sub_version = {}) && {
    subresources.push_back({.name = std::move(name),
                            .kind = std::move(sub_kind),
                            .verbs = std::move(sub_verbs),
                            .group = std::move(sub_group),
                            .version = std::move(sub_version)});
    return std::move(*this);
  }

  Row&& keeping_status() && {
    keeps_status = true;
    return std::move(*this);
  }

  Row&& stored_as(std::string key_prefix) && {
    prefix = std::move(key_prefix);
    return std::move(*this);
  }
};

void add_core(std::vector<Kind>& out) {
  auto row = [](std::string plural, std::string kind) {
    return Row("", "v1", std::move(plural), std::move(kind));
  };
  out.push_back(row("bindings", "Binding").only(kCreate));
  out.push_back(row("configmaps", "ConfigMap").alias({"cm"}));
  out.push_back(row("endpoints", "Endpoints").alias({"ep"}));
  out.back().singular = "endpoints";
  out.back().deprecation =
      "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice";
  out.push_back(row("events", "Event").alias({"ev"}));
  out.push_back(row("limitranges", "LimitRange").alias({"limits"}));
  out.push_back(row("namespaces", "Namespace")
                    .alias({"ns"})
                    .cluster()
                    .only(kNoCollectionDelete)
                    .sub("finalize", "Namespace", {"update"})
                    .with_status());
  out.push_back(row("nodes", "Node")
                    .alias({"no"})
                    .cluster()
                    .keeping_status()
                    .sub("proxy", "NodeProxyOptions", kProxy)
                    .with_status());
  out.push_back(
      row("persistentvolumeclaims", "PersistentVolumeClaim").alias({"pvc"}).with_status());
  out.push_back(row("persistentvolumes", "PersistentVolume").alias({"pv"}).cluster().with_status());
  out.push_back(row("pods", "Pod")
                    .alias({"po"})
                    .in_all()
                    .counts(Generation::spec)
                    .sub("attach", "PodAttachOptions", kConnect)
                    .sub("binding", "Binding", kCreate)
                    .sub("ephemeralcontainers", "Pod", kWrite)
                    .sub("eviction", "Eviction", kCreate, "policy", "v1")
                    .sub("exec", "PodExecOptions", kConnect)
                    .sub("log", "Pod", {"get"})
                    .sub("resize", "Pod", kWrite)
                    .with_status());
  out.push_back(row("podtemplates", "PodTemplate").counts(Generation::content));
  out.push_back(row("replicationcontrollers", "ReplicationController")
                    .alias({"rc"})
                    .in_all()
                    .counts(Generation::spec)
                    .with_scale()
                    .with_status());
  out.push_back(row("resourcequotas", "ResourceQuota").alias({"quota"}).with_status());
  out.push_back(row("secrets", "Secret"));
  out.push_back(row("serviceaccounts", "ServiceAccount")
                    .alias({"sa"})
                    .sub("token", "TokenRequest", kCreate, "authentication.k8s.io", "v1"));
  out.push_back(row("services", "Service").alias({"svc"}).in_all().with_status());
}

void add_workloads(std::vector<Kind>& out) {
  auto apps = [](std::string plural, std::string kind) {
    return Row("apps", "v1", std::move(plural), std::move(kind));
  };
  out.push_back(apps("controllerrevisions", "ControllerRevision"));
  out.push_back(apps("daemonsets", "DaemonSet")
                    .alias({"ds"})
                    .in_all()
                    .counts(Generation::spec)
                    .with_status());
  out.push_back(apps("deployments", "Deployment")
                    .alias({"deploy"})
                    .in_all()
                    .counts(Generation::spec_and_annotations)
                    .with_scale()
                    .with_status());
  out.push_back(apps("replicasets", "ReplicaSet")
                    .alias({"rs"})
                    .in_all()
                    .counts(Generation::spec)
                    .with_scale()
                    .with_status());
  out.push_back(apps("statefulsets", "StatefulSet")
                    .alias({"sts"})
                    .in_all()
                    .counts(Generation::spec)
                    .with_scale()
                    .with_status());
  out.push_back(Row("events.k8s.io", "v1", "events", "Event")
                    .alias({"ev"})
                    .stored_as("/registry/core/events/"));
  out.back().conversion = Conversion{event_from_core, event_to_core, ""};
  out.push_back(Row("authentication.k8s.io", "v1", "selfsubjectreviews", "SelfSubjectReview")
                    .cluster()
                    .only(kCreate));
  out.push_back(
      Row("authentication.k8s.io", "v1", "tokenreviews", "TokenReview").cluster().only(kCreate));
  auto authorization = [](std::string plural, std::string kind) {
    return Row("authorization.k8s.io", "v1", std::move(plural), std::move(kind)).only(kCreate);
  };
  out.push_back(authorization("localsubjectaccessreviews", "LocalSubjectAccessReview"));
  out.push_back(authorization("selfsubjectaccessreviews", "SelfSubjectAccessReview").cluster());
  out.push_back(authorization("selfsubjectrulesreviews", "SelfSubjectRulesReview").cluster());
  out.push_back(authorization("subjectaccessreviews", "SubjectAccessReview").cluster());
  out.push_back(Row("autoscaling", "v2", "horizontalpodautoscalers", "HorizontalPodAutoscaler")
                    .alias({"hpa"})
                    .in_all()
                    .counts(Generation::spec)
                    .with_status());
  out.push_back(Row("batch", "v1", "cronjobs", "CronJob")
                    .alias({"cj"})
                    .in_all()
                    .counts(Generation::spec)
                    .with_status());
  out.push_back(Row("batch", "v1", "jobs", "Job").in_all().counts(Generation::spec).with_status());
}

void add_policies(std::vector<Kind>& out) {
  auto networking = [](std::string plural, std::string kind) {
    return Row("networking.k8s.io", "v1", std::move(plural), std::move(kind))
        .counts(Generation::spec);
  };
  out.push_back(networking("ingressclasses", "IngressClass").cluster());
  out.push_back(networking("ingresses", "Ingress").alias({"ing"}).with_status());
  out.push_back(networking("networkpolicies", "NetworkPolicy").alias({"netpol"}));
  out.push_back(Row("policy", "v1", "poddisruptionbudgets", "PodDisruptionBudget")
                    .alias({"pdb"})
                    .counts(Generation::spec)
                    .with_status());
  auto rbac = [](std::string plural, std::string kind) {
    return Row("rbac.authorization.k8s.io", "v1", std::move(plural), std::move(kind));
  };
  out.push_back(rbac("clusterrolebindings", "ClusterRoleBinding").cluster());
  out.push_back(rbac("clusterroles", "ClusterRole").cluster());
  out.push_back(rbac("rolebindings", "RoleBinding"));
  out.push_back(rbac("roles", "Role"));
  auto storage = [](std::string plural, std::string kind) {
    return Row("storage.k8s.io", "v1", std::move(plural), std::move(kind)).cluster();
  };
  out.push_back(storage("csidrivers", "CSIDriver"));
  out.push_back(storage("csinodes", "CSINode"));
  out.push_back(Row("storage.k8s.io", "v1", "csistoragecapacities", "CSIStorageCapacity"));
  out.push_back(storage("storageclasses", "StorageClass").alias({"sc"}));
  out.push_back(storage("volumeattachments", "VolumeAttachment").with_status());
}

void add_machinery(std::vector<Kind>& out) {
  auto admission = [](std::string plural, std::string kind) {
    return Row("admissionregistration.k8s.io", "v1", std::move(plural), std::move(kind))
        .cluster()
        .in_category("api-extensions")
        .counts(Generation::content);
  };
  out.push_back(admission("mutatingwebhookconfigurations", "MutatingWebhookConfiguration"));
  out.push_back(admission("validatingadmissionpolicies", "ValidatingAdmissionPolicy")
                    .counts(Generation::spec)
                    .with_status());
  out.push_back(admission("validatingadmissionpolicybindings", "ValidatingAdmissionPolicyBinding"));
  out.push_back(admission("validatingwebhookconfigurations", "ValidatingWebhookConfiguration"));
  out.push_back(
      Row("apiextensions.k8s.io", "v1", "customresourcedefinitions", "CustomResourceDefinition")
          .alias({"crd", "crds"})
          .cluster()
          .in_category("api-extensions")
          .counts(Generation::spec)
          .with_status());
  out.push_back(Row("scheduling.k8s.io", "v1", "priorityclasses", "PriorityClass")
                    .alias({"pc"})
                    .cluster()
                    .counts(Generation::content));
  out.push_back(Row("coordination.k8s.io", "v1", "leases", "Lease"));
  out.push_back(Row("node.k8s.io", "v1", "runtimeclasses", "RuntimeClass").cluster());
  out.push_back(
      Row("discovery.k8s.io", "v1", "endpointslices", "EndpointSlice").counts(Generation::content));
  auto resource = [](std::string plural, std::string kind) {
    return Row("resource.k8s.io", "v1", std::move(plural), std::move(kind));
  };
  out.push_back(resource("deviceclasses", "DeviceClass").cluster().counts(Generation::spec));
  out.push_back(resource("devicetaintrules", "DeviceTaintRule")
                    .cluster()
                    .counts(Generation::spec)
                    .with_status());
  out.push_back(resource("resourceclaims", "ResourceClaim").with_status());
  out.push_back(resource("resourceclaimtemplates", "ResourceClaimTemplate"));
  out.push_back(resource("resourceslices", "ResourceSlice").cluster().counts(Generation::spec));
  out.push_back(Row("metrics.k8s.io", "v1beta1", "nodes", "NodeMetrics").cluster().only(kRead));
  out.push_back(Row("metrics.k8s.io", "v1beta1", "pods", "PodMetrics").only(kRead));
}

}  // namespace

std::vector<Kind> built_in_kinds() {
  std::vector<Kind> out;
  add_core(out);
  add_workloads(out);
  add_policies(out);
  add_machinery(out);
  return out;
}

}  // namespace plim::local::apiserver
