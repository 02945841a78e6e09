// Pod, PodTemplate, ReplicationController and Binding.
#include "local/apiserver/schema/types/type_tables.hpp"

namespace plim::local::apiserver {

constexpr Field kSysctlFields[] = {
    {.name = "name", .required_zero = true, .number = 1},
    {.name = "value", .required_zero = true, .number = 2},
};
constexpr Type kSysctl{.name = "Sysctl", .fields = kSysctlFields};

constexpr Field kPodSecurityContextFields[] = {
    {.name = "seLinuxOptions",
     .scalar = Scalar::object,
     .type = &kSELinuxOptions,
     .keep_zero = true,
     .number = 1},
    {.name = "windowsOptions",
     .scalar = Scalar::object,
     .type = &kWindowsSecurityContextOptions,
     .keep_zero = true,
     .number = 8},
    {.name = "runAsUser", .scalar = Scalar::int64, .keep_zero = true, .number = 2},
    {.name = "runAsGroup", .scalar = Scalar::int64, .keep_zero = true, .number = 6},
    {.name = "runAsNonRoot", .scalar = Scalar::boolean, .keep_zero = true, .number = 3},
    {.name = "supplementalGroups", .scalar = Scalar::int64, .shape = Shape::list, .number = 4},
    {.name = "supplementalGroupsPolicy", .keep_zero = true, .number = 12},
    {.name = "fsGroup", .scalar = Scalar::int64, .keep_zero = true, .number = 5},
    {.name = "sysctls",
     .scalar = Scalar::object,
     .shape = Shape::list,
     .type = &kSysctl,
     .number = 7},
    {.name = "fsGroupChangePolicy", .keep_zero = true, .number = 9},
    {.name = "seccompProfile",
     .scalar = Scalar::object,
     .type = &kSeccompProfile,
     .keep_zero = true,
     .number = 10},
    {.name = "appArmorProfile",
     .scalar = Scalar::object,
     .type = &kAppArmorProfile,
     .keep_zero = true,
     .number = 11},
    {.name = "seLinuxChangePolicy", .keep_zero = true, .number = 13},
};
constexpr Type kPodSecurityContext{.name = "PodSecurityContext",
                                   .fields = kPodSecurityContextFields};

constexpr Field kPreferredSchedulingTermFields[] = {
    {.name = "weight", .scalar = Scalar::int32, .required_zero = true, .number = 1},
    {.name = "preference",
     .scalar = Scalar::object,
     .type = &kNodeSelectorTerm,
     .atomic = true,
     .required_zero = true,
     .number = 2},
};
constexpr Type kPreferredSchedulingTerm{.name = "PreferredSchedulingTerm",
                                        .fields = kPreferredSchedulingTermFields};

constexpr Field kNodeAffinityFields[] = {
    {.name = "requiredDuringSchedulingIgnoredDuringExecution",
     .scalar = Scalar::object,
     .type = &kNodeSelector,
     .atomic = true,
     .keep_zero = true,
     .number = 1},
    {.name = "preferredDuringSchedulingIgnoredDuringExecution",
     .scalar = Scalar::object,
     .shape = Shape::list,
     .type = &kPreferredSchedulingTerm,
     .number = 2},
};
constexpr Type kNodeAffinity{.name = "NodeAffinity", .fields = kNodeAffinityFields};

constexpr Field kPodAffinityTermFields[] = {
    {.name = "labelSelector",
     .scalar = Scalar::object,
     .type = &kLabelSelector,
     .atomic = true,
     .keep_zero = true,
     .number = 1},
    {.name = "namespaces", .shape = Shape::list, .number = 2},
    {.name = "topologyKey", .required_zero = true, .number = 3},
    {.name = "namespaceSelector",
     .scalar = Scalar::object,
     .type = &kLabelSelector,
     .atomic = true,
     .keep_zero = true,
     .number = 4},
    {.name = "matchLabelKeys", .shape = Shape::list, .number = 5},
    {.name = "mismatchLabelKeys", .shape = Shape::list, .number = 6},
};
constexpr Type kPodAffinityTerm{.name = "PodAffinityTerm", .fields = kPodAffinityTermFields};

constexpr Field kWeightedPodAffinityTermFields[] = {
    {.name = "weight", .scalar = Scalar::int32, .required_zero = true, .number = 1},
    {.name = "podAffinityTerm",
     .scalar = Scalar::object,
     .type = &kPodAffinityTerm,
     .required_zero = true,
     .number = 2},
};
constexpr Type kWeightedPodAffinityTerm{.name = "WeightedPodAffinityTerm",
                                        .fields = kWeightedPodAffinityTermFields};

constexpr Field kPodAffinityFields[] = {
    {.name = "requiredDuringSchedulingIgnoredDuringExecution",
     .scalar = Scalar::object,
     .shape = Shape::list,
     .type = &kPodAffinityTerm,
     .number = 1},
    {.name = "preferredDuringSchedulingIgnoredDuringExecution",
     .scalar = Scalar::object,
     .shape = Shape::list,
     .type = &kWeightedPodAffinityTerm,
     .number = 2},
};
constexpr Type kPodAffinity{.name = "PodAffinity", .fields = kPodAffinityFields};

constexpr Field kPodAntiAffinityFields[] = {
    {.name = "requiredDuringSchedulingIgnoredDuringExecution",
     .scalar = Scalar::object,
     .shape = Shape::list,
     .type = &kPodAffinityTerm,
     .number = 1},
    {.name = "preferredDuringSchedulingIgnoredDuringExecution",
     .scalar = Scalar::object,
     .shape = Shape::list,
     .type = &kWeightedPodAffinityTerm,
     .number = 2},
};
constexpr Type kPodAntiAffinity{.name = "PodAntiAffinity", .fields = kPodAntiAffinityFields};

constexpr Field kAffinityFields[] = {
    {.name = "nodeAffinity",
     .scalar = Scalar::object,
     .type = &kNodeAffinity,
     .keep_zero = true,
     .number = 1},
    {.name = "podAffinity",
     .scalar = Scalar::object,
     .type = &kPodAffinity,
     .keep_zero = true,
     .number = 2},
    {.name = "podAntiAffinity",
     .scalar = Scalar::object,
     .type = &kPodAntiAffinity,
     .keep_zero = true,
     .number = 3},
};
constexpr Type kAffinity{.name = "Affinity", .fields = kAffinityFields};

constexpr Field kTolerationFields[] = {
    {.name = "key", .number = 1},
    {.name = "operator", .number = 2},
    {.name = "value", .number = 3},
    {.name = "effect", .number = 4},
    {.name = "tolerationSeconds", .scalar = Scalar::int64, .keep_zero = true, .number = 5},
};
constexpr Type kToleration{.name = "Toleration", .fields = kTolerationFields};

constexpr Field kHostAliasFields[] = {
    {.name = "ip", .required_zero = true, .number = 1},
    {.name = "hostnames", .shape = Shape::list, .number = 2},
};
constexpr Type kHostAlias{.name = "HostAlias", .fields = kHostAliasFields};

constexpr Field kPodDNSConfigOptionFields[] = {
    {.name = "name", .number = 1},
    {.name = "value", .keep_zero = true, .number = 2},
};
constexpr Type kPodDNSConfigOption{.name = "PodDNSConfigOption",
                                   .fields = kPodDNSConfigOptionFields};

constexpr Field kPodDNSConfigFields[] = {
    {.name = "nameservers", .shape = Shape::list, .number = 1},
    {.name = "searches", .shape = Shape::list, .number = 2},
    {.name = "options",
     .scalar = Scalar::object,
     .shape = Shape::list,
     .type = &kPodDNSConfigOption,
     .number = 3},
};
constexpr Type kPodDNSConfig{.name = "PodDNSConfig", .fields = kPodDNSConfigFields};

constexpr Field kPodReadinessGateFields[] = {
    {.name = "conditionType", .required_zero = true, .number = 1},
};
constexpr Type kPodReadinessGate{.name = "PodReadinessGate", .fields = kPodReadinessGateFields};

constexpr Field kTopologySpreadConstraintFields[] = {
    {.name = "maxSkew", .scalar = Scalar::int32, .required_zero = true, .number = 1},
    {.name = "topologyKey", .required_zero = true, .number = 2},
    {.name = "whenUnsatisfiable", .required_zero = true, .number = 3},
    {.name = "labelSelector",
     .scalar = Scalar::object,
     .type = &kLabelSelector,
     .atomic = true,
     .keep_zero = true,
     .number = 4},
    {.name = "minDomains", .scalar = Scalar::int32, .keep_zero = true, .number = 5},
    {.name = "nodeAffinityPolicy", .keep_zero = true, .number = 6},
    {.name = "nodeTaintsPolicy", .keep_zero = true, .number = 7},
    {.name = "matchLabelKeys", .shape = Shape::list, .number = 8},
};
constexpr Type kTopologySpreadConstraint{.name = "TopologySpreadConstraint",
                                         .fields = kTopologySpreadConstraintFields};

constexpr Field kPodOSFields[] = {
    {.name = "name", .required_zero = true, .number = 1},
};
constexpr Type kPodOS{.name = "PodOS", .fields = kPodOSFields};

constexpr Field kPodSchedulingGateFields[] = {
    {.name = "name", .required_zero = true, .number = 1},
};
constexpr Type kPodSchedulingGate{.name = "PodSchedulingGate", .fields = kPodSchedulingGateFields};

constexpr Field kPodResourceClaimFields[] = {
    {.name = "name", .required_zero = true, .number = 1},
    {.name = "resourceClaimName", .keep_zero = true, .number = 3},
    {.name = "resourceClaimTemplateName", .keep_zero = true, .number = 4},
};
constexpr Type kPodResourceClaim{.name = "PodResourceClaim", .fields = kPodResourceClaimFields};

constexpr Field kPodSpecFields[] = {
    {.name = "volumes",
     .scalar = Scalar::object,
     .shape = Shape::list,
     .type = &kVolume,
     .list = ListKind::map,
     .list_keys = "name",
     .merge_key = "name",
     .merge = true,
     .retain_keys = true,
     .number = 1},
    {.name = "initContainers",
     .scalar = Scalar::object,
     .shape = Shape::list,
     .type = &kContainer,
     .list = ListKind::map,
     .list_keys = "name",
     .merge_key = "name",
     .merge = true,
     .number = 20},
    {.name = "containers",
     .scalar = Scalar::object,
     .shape = Shape::list,
     .type = &kContainer,
     .list = ListKind::map,
     .list_keys = "name",
     .merge_key = "name",
     .merge = true,
     .keep_zero = true,
     .number = 2},
    {.name = "ephemeralContainers",
     .scalar = Scalar::object,
     .shape = Shape::list,
     .type = &kEphemeralContainer,
     .list = ListKind::map,
     .list_keys = "name",
     .merge_key = "name",
     .merge = true,
     .number = 34},
    {.name = "restartPolicy", .fallback = R"("Always")", .number = 3},
    {.name = "terminationGracePeriodSeconds",
     .scalar = Scalar::int64,
     .keep_zero = true,
     .fallback = "30",
     .number = 4},
    {.name = "activeDeadlineSeconds", .scalar = Scalar::int64, .keep_zero = true, .number = 5},
    {.name = "dnsPolicy", .fallback = R"("ClusterFirst")", .number = 6},
    {.name = "nodeSelector", .shape = Shape::map, .atomic = true, .number = 7},
    {.name = "serviceAccountName", .number = 8},
    {.name = "serviceAccount", .number = 9},
    {.name = "automountServiceAccountToken",
     .scalar = Scalar::boolean,
     .keep_zero = true,
     .number = 21},
    {.name = "nodeName", .number = 10},
    {.name = "hostNetwork", .scalar = Scalar::boolean, .number = 11},
    {.name = "hostPID", .scalar = Scalar::boolean, .number = 12},
    {.name = "hostIPC", .scalar = Scalar::boolean, .number = 13},
    {.name = "shareProcessNamespace", .scalar = Scalar::boolean, .keep_zero = true, .number = 27},
    {.name = "securityContext",
     .scalar = Scalar::object,
     .type = &kPodSecurityContext,
     .keep_zero = true,
     .fallback = "{}",
     .number = 14},
    {.name = "imagePullSecrets",
     .scalar = Scalar::object,
     .shape = Shape::list,
     .type = &kLocalObjectReference,
     .list = ListKind::map,
     .list_keys = "name",
     .merge_key = "name",
     .merge = true,
     .number = 15},
    {.name = "hostname", .number = 16},
    {.name = "subdomain", .number = 17},
    {.name = "affinity",
     .scalar = Scalar::object,
     .type = &kAffinity,
     .keep_zero = true,
     .number = 18},
    {.name = "schedulerName", .fallback = R"("default-scheduler")", .number = 19},
    {.name = "tolerations",
     .scalar = Scalar::object,
     .shape = Shape::list,
     .type = &kToleration,
     .number = 22},
    {.name = "hostAliases",
     .scalar = Scalar::object,
     .shape = Shape::list,
     .type = &kHostAlias,
     .list = ListKind::map,
     .list_keys = "ip",
     .merge_key = "ip",
     .merge = true,
     .number = 23},
    {.name = "priorityClassName", .number = 24},
    {.name = "priority", .scalar = Scalar::int32, .keep_zero = true, .number = 25},
    {.name = "dnsConfig",
     .scalar = Scalar::object,
     .type = &kPodDNSConfig,
     .keep_zero = true,
     .number = 26},
    {.name = "readinessGates",
     .scalar = Scalar::object,
     .shape = Shape::list,
     .type = &kPodReadinessGate,
     .number = 28},
    {.name = "runtimeClassName", .keep_zero = true, .number = 29},
    {.name = "enableServiceLinks", .scalar = Scalar::boolean, .keep_zero = true, .number = 30},
    {.name = "preemptionPolicy", .keep_zero = true, .number = 31},
    {.name = "overhead", .scalar = Scalar::quantity, .shape = Shape::map, .number = 32},
    {.name = "topologySpreadConstraints",
     .scalar = Scalar::object,
     .shape = Shape::list,
     .type = &kTopologySpreadConstraint,
     .list = ListKind::map,
     .list_keys = "topologyKey,whenUnsatisfiable",
     .merge_key = "topologyKey",
     .merge = true,
     .number = 33},
    {.name = "setHostnameAsFQDN", .scalar = Scalar::boolean, .keep_zero = true, .number = 35},
    {.name = "os", .scalar = Scalar::object, .type = &kPodOS, .keep_zero = true, .number = 36},
    {.name = "hostUsers", .scalar = Scalar::boolean, .keep_zero = true, .number = 37},
    {.name = "schedulingGates",
     .scalar = Scalar::object,
     .shape = Shape::list,
     .type = &kPodSchedulingGate,
     .list = ListKind::map,
     .list_keys = "name",
     .merge_key = "name",
     .merge = true,
     .number = 38},
    {.name = "resourceClaims",
     .scalar = Scalar::object,
     .shape = Shape::list,
     .type = &kPodResourceClaim,
     .list = ListKind::map,
     .list_keys = "name",
     .merge_key = "name",
     .merge = true,
     .retain_keys = true,
     .number = 39},
    {.name = "resources",
     .scalar = Scalar::object,
     .type = &kResourceRequirements,
     .keep_zero = true,
     .number = 40},
    {.name = "hostnameOverride", .keep_zero = true, .number = 41},
};
constexpr Type kPodSpec{.name = "PodSpec", .fields = kPodSpecFields};

constexpr Field kPodFields[] = {
    {.name = "kind"},
    {.name = "apiVersion"},
    {.name = "metadata",
     .scalar = Scalar::object,
     .type = &kObjectMeta,
     .required_zero = true,
     .number = 1},
    {.name = "spec",
     .scalar = Scalar::object,
     .type = &kPodSpec,
     .required_zero = true,
     .number = 2},
    {.name = "status",
     .scalar = Scalar::object,
     .type = &kPodStatus,
     .required_zero = true,
     .number = 3},
};
constexpr Type kPod{.name = "Pod", .fields = kPodFields};

constexpr Field kPodTemplateSpecFields[] = {
    {.name = "metadata",
     .scalar = Scalar::object,
     .type = &kObjectMeta,
     .required_zero = true,
     .number = 1},
    {.name = "spec",
     .scalar = Scalar::object,
     .type = &kPodSpec,
     .required_zero = true,
     .number = 2},
};
constexpr Type kPodTemplateSpec{.name = "PodTemplateSpec", .fields = kPodTemplateSpecFields};

constexpr Field kPodTemplateFields[] = {
    {.name = "kind"},
    {.name = "apiVersion"},
    {.name = "metadata",
     .scalar = Scalar::object,
     .type = &kObjectMeta,
     .required_zero = true,
     .number = 1},
    {.name = "template",
     .scalar = Scalar::object,
     .type = &kPodTemplateSpec,
     .required_zero = true,
     .number = 2},
};
constexpr Type kPodTemplate{.name = "PodTemplate", .fields = kPodTemplateFields};

constexpr Field kReplicationControllerSpecFields[] = {
    {.name = "replicas", .scalar = Scalar::int32, .keep_zero = true, .fallback = "1", .number = 1},
    {.name = "minReadySeconds", .scalar = Scalar::int32, .number = 4},
    {.name = "selector", .shape = Shape::map, .atomic = true, .number = 2},
    {.name = "template",
     .scalar = Scalar::object,
     .type = &kPodTemplateSpec,
     .keep_zero = true,
     .number = 3},
};
constexpr Type kReplicationControllerSpec{.name = "ReplicationControllerSpec",
                                          .fields = kReplicationControllerSpecFields};

constexpr Field kReplicationControllerConditionFields[] = {
    {.name = "type", .required_zero = true, .number = 1},
    {.name = "status", .required_zero = true, .number = 2},
    {.name = "lastTransitionTime", .scalar = Scalar::time, .number = 3},
    {.name = "reason", .number = 4},
    {.name = "message", .number = 5},
};
constexpr Type kReplicationControllerCondition{.name = "ReplicationControllerCondition",
                                               .fields = kReplicationControllerConditionFields};

constexpr Field kReplicationControllerStatusFields[] = {
    {.name = "replicas", .scalar = Scalar::int32, .required_zero = true, .number = 1},
    {.name = "fullyLabeledReplicas", .scalar = Scalar::int32, .number = 2},
    {.name = "readyReplicas", .scalar = Scalar::int32, .number = 4},
    {.name = "availableReplicas", .scalar = Scalar::int32, .number = 5},
    {.name = "observedGeneration", .scalar = Scalar::int64, .number = 3},
    {.name = "conditions",
     .scalar = Scalar::object,
     .shape = Shape::list,
     .type = &kReplicationControllerCondition,
     .list = ListKind::map,
     .list_keys = "type",
     .merge_key = "type",
     .merge = true,
     .number = 6},
};
constexpr Type kReplicationControllerStatus{.name = "ReplicationControllerStatus",
                                            .fields = kReplicationControllerStatusFields};

constexpr Field kReplicationControllerFields[] = {
    {.name = "kind"},
    {.name = "apiVersion"},
    {.name = "metadata",
     .scalar = Scalar::object,
     .type = &kObjectMeta,
     .required_zero = true,
     .number = 1},
    {.name = "spec",
     .scalar = Scalar::object,
     .type = &kReplicationControllerSpec,
     .required_zero = true,
     .number = 2},
    {.name = "status",
     .scalar = Scalar::object,
     .type = &kReplicationControllerStatus,
     .required_zero = true,
     .number = 3},
};
constexpr Type kReplicationController{.name = "ReplicationController",
                                      .fields = kReplicationControllerFields};

constexpr Field kBindingFields[] = {
    {.name = "kind"},
    {.name = "apiVersion"},
    {.name = "metadata",
     .scalar = Scalar::object,
     .type = &kObjectMeta,
     .required_zero = true,
     .number = 1},
    {.name = "target",
     .scalar = Scalar::object,
     .type = &kObjectReference,
     .atomic = true,
     .required_zero = true,
     .number = 2},
};
constexpr Type kBinding{.name = "Binding", .fields = kBindingFields};

}  // namespace plim::local::apiserver
