// Containers of pods.
#include "local/apiserver/schema/types/type_tables.hpp"

namespace plim::local::apiserver {

constexpr Field kContainerPortFields[] = {
    {.name = "name", .number = 1},
    {.name = "hostPort", .scalar = Scalar::int32, .number = 2},
    {.name = "containerPort", .scalar = Scalar::int32, .required_zero = true, .number = 3},
    {.name = "protocol", .fallback = R"("TCP")", .number = 4},
    {.name = "hostIP", .number = 5},
};
constexpr Type kContainerPort{.name = "ContainerPort", .fields = kContainerPortFields};

constexpr Field kConfigMapEnvSourceFields[] = {
    {.name = "name", .number = 1, .inside = 1},
    {.name = "optional", .scalar = Scalar::boolean, .keep_zero = true, .number = 2},
};
constexpr Type kConfigMapEnvSource{.name = "ConfigMapEnvSource",
                                   .fields = kConfigMapEnvSourceFields};

constexpr Field kSecretEnvSourceFields[] = {
    {.name = "name", .number = 1, .inside = 1},
    {.name = "optional", .scalar = Scalar::boolean, .keep_zero = true, .number = 2},
};
constexpr Type kSecretEnvSource{.name = "SecretEnvSource", .fields = kSecretEnvSourceFields};

constexpr Field kEnvFromSourceFields[] = {
    {.name = "prefix", .number = 1},
    {.name = "configMapRef",
     .scalar = Scalar::object,
     .type = &kConfigMapEnvSource,
     .keep_zero = true,
     .number = 2},
    {.name = "secretRef",
     .scalar = Scalar::object,
     .type = &kSecretEnvSource,
     .keep_zero = true,
     .number = 3},
};
constexpr Type kEnvFromSource{.name = "EnvFromSource", .fields = kEnvFromSourceFields};

constexpr Field kFileKeySelectorFields[] = {
    {.name = "volumeName", .required_zero = true, .number = 1},
    {.name = "path", .required_zero = true, .number = 2},
    {.name = "key", .required_zero = true, .number = 3},
    {.name = "optional", .scalar = Scalar::boolean, .keep_zero = true, .number = 4},
};
constexpr Type kFileKeySelector{.name = "FileKeySelector", .fields = kFileKeySelectorFields};

constexpr Field kEnvVarSourceFields[] = {
    {.name = "fieldRef",
     .scalar = Scalar::object,
     .type = &kObjectFieldSelector,
     .atomic = true,
     .keep_zero = true,
     .number = 1},
    {.name = "resourceFieldRef",
     .scalar = Scalar::object,
     .type = &kResourceFieldSelector,
     .atomic = true,
     .keep_zero = true,
     .number = 2},
    {.name = "configMapKeyRef",
     .scalar = Scalar::object,
     .type = &kConfigMapKeySelector,
     .atomic = true,
     .keep_zero = true,
     .number = 3},
    {.name = "secretKeyRef",
     .scalar = Scalar::object,
     .type = &kSecretKeySelector,
     .atomic = true,
     .keep_zero = true,
     .number = 4},
    {.name = "fileKeyRef",
     .scalar = Scalar::object,
     .type = &kFileKeySelector,
     .atomic = true,
     .keep_zero = true,
     .number = 5},
};
constexpr Type kEnvVarSource{.name = "EnvVarSource", .fields = kEnvVarSourceFields};

constexpr Field kEnvVarFields[] = {
    {.name = "name", .required_zero = true, .number = 1},
    {.name = "value", .number = 2},
    {.name = "valueFrom",
     .scalar = Scalar::object,
     .type = &kEnvVarSource,
     .keep_zero = true,
     .number = 3},
};
constexpr Type kEnvVar{.name = "EnvVar", .fields = kEnvVarFields};

constexpr Field kCoreResourceClaimFields[] = {
    {.name = "name", .required_zero = true, .number = 1},
    {.name = "request", .number = 2},
};
constexpr Type kCoreResourceClaim{.name = "ResourceClaim", .fields = kCoreResourceClaimFields};

constexpr Field kResourceRequirementsFields[] = {
    {.name = "limits", .scalar = Scalar::quantity, .shape = Shape::map, .number = 1},
    {.name = "requests", .scalar = Scalar::quantity, .shape = Shape::map, .number = 2},
    {.name = "claims",
     .scalar = Scalar::object,
     .shape = Shape::list,
     .type = &kCoreResourceClaim,
     .list = ListKind::map,
     .list_keys = "name",
     .number = 3},
};
constexpr Type kResourceRequirements{.name = "ResourceRequirements",
                                     .fields = kResourceRequirementsFields};

constexpr Field kContainerResizePolicyFields[] = {
    {.name = "resourceName", .required_zero = true, .number = 1},
    {.name = "restartPolicy", .required_zero = true, .number = 2},
};
constexpr Type kContainerResizePolicy{.name = "ContainerResizePolicy",
                                      .fields = kContainerResizePolicyFields};

constexpr Field kContainerRestartRuleOnExitCodesFields[] = {
    {.name = "operator", .number = 1},
    {.name = "values",
     .scalar = Scalar::int32,
     .shape = Shape::list,
     .list = ListKind::set,
     .number = 2},
};
constexpr Type kContainerRestartRuleOnExitCodes{.name = "ContainerRestartRuleOnExitCodes",
                                                .fields = kContainerRestartRuleOnExitCodesFields};

constexpr Field kContainerRestartRuleFields[] = {
    {.name = "action", .number = 1},
    {.name = "exitCodes",
     .scalar = Scalar::object,
     .type = &kContainerRestartRuleOnExitCodes,
     .keep_zero = true,
     .number = 2},
};
constexpr Type kContainerRestartRule{.name = "ContainerRestartRule",
                                     .fields = kContainerRestartRuleFields};

constexpr Field kVolumeMountFields[] = {
    {.name = "name", .required_zero = true, .number = 1},
    {.name = "readOnly", .scalar = Scalar::boolean, .number = 2},
    {.name = "recursiveReadOnly", .keep_zero = true, .number = 7},
    {.name = "mountPath", .required_zero = true, .number = 3},
    {.name = "subPath", .number = 4},
    {.name = "mountPropagation", .keep_zero = true, .number = 5},
    {.name = "subPathExpr", .number = 6},
};
constexpr Type kVolumeMount{.name = "VolumeMount", .fields = kVolumeMountFields};

constexpr Field kVolumeDeviceFields[] = {
    {.name = "name", .required_zero = true, .number = 1},
    {.name = "devicePath", .required_zero = true, .number = 2},
};
constexpr Type kVolumeDevice{.name = "VolumeDevice", .fields = kVolumeDeviceFields};

constexpr Field kExecActionFields[] = {
    {.name = "command", .shape = Shape::list, .number = 1},
};
constexpr Type kExecAction{.name = "ExecAction", .fields = kExecActionFields};

constexpr Field kHTTPHeaderFields[] = {
    {.name = "name", .required_zero = true, .number = 1},
    {.name = "value", .required_zero = true, .number = 2},
};
constexpr Type kHTTPHeader{.name = "HTTPHeader", .fields = kHTTPHeaderFields};

constexpr Field kHTTPGetActionFields[] = {
    {.name = "path", .fallback = R"("/")", .number = 1},
    {.name = "port", .scalar = Scalar::int_or_string, .required_zero = true, .number = 2},
    {.name = "host", .number = 3},
    {.name = "scheme", .fallback = R"("HTTP")", .number = 4},
    {.name = "httpHeaders",
     .scalar = Scalar::object,
     .shape = Shape::list,
     .type = &kHTTPHeader,
     .number = 5},
};
constexpr Type kHTTPGetAction{.name = "HTTPGetAction", .fields = kHTTPGetActionFields};

constexpr Field kTCPSocketActionFields[] = {
    {.name = "port", .scalar = Scalar::int_or_string, .required_zero = true, .number = 1},
    {.name = "host", .number = 2},
};
constexpr Type kTCPSocketAction{.name = "TCPSocketAction", .fields = kTCPSocketActionFields};

constexpr Field kGRPCActionFields[] = {
    {.name = "port", .scalar = Scalar::int32, .required_zero = true, .number = 1},
    {.name = "service", .keep_zero = true, .fallback = R"("")", .number = 2},
};
constexpr Type kGRPCAction{.name = "GRPCAction", .fields = kGRPCActionFields};

constexpr Field kProbeFields[] = {
    {.name = "exec",
     .scalar = Scalar::object,
     .type = &kExecAction,
     .keep_zero = true,
     .number = 1,
     .inside = 1},
    {.name = "httpGet",
     .scalar = Scalar::object,
     .type = &kHTTPGetAction,
     .keep_zero = true,
     .number = 2,
     .inside = 1},
    {.name = "tcpSocket",
     .scalar = Scalar::object,
     .type = &kTCPSocketAction,
     .keep_zero = true,
     .number = 3,
     .inside = 1},
    {.name = "grpc",
     .scalar = Scalar::object,
     .type = &kGRPCAction,
     .keep_zero = true,
     .number = 4,
     .inside = 1},
    {.name = "initialDelaySeconds", .scalar = Scalar::int32, .number = 2},
    {.name = "timeoutSeconds", .scalar = Scalar::int32, .fallback = "1", .number = 3},
    {.name = "periodSeconds", .scalar = Scalar::int32, .fallback = "10", .number = 4},
    {.name = "successThreshold", .scalar = Scalar::int32, .fallback = "1", .number = 5},
    {.name = "failureThreshold", .scalar = Scalar::int32, .fallback = "3", .number = 6},
    {.name = "terminationGracePeriodSeconds",
     .scalar = Scalar::int64,
     .keep_zero = true,
     .number = 7},
};
constexpr Type kProbe{.name = "Probe", .fields = kProbeFields};

constexpr Field kSleepActionFields[] = {
    {.name = "seconds", .scalar = Scalar::int64, .required_zero = true, .number = 1},
};
constexpr Type kSleepAction{.name = "SleepAction", .fields = kSleepActionFields};

constexpr Field kLifecycleHandlerFields[] = {
    {.name = "exec",
     .scalar = Scalar::object,
     .type = &kExecAction,
     .keep_zero = true,
     .number = 1},
    {.name = "httpGet",
     .scalar = Scalar::object,
     .type = &kHTTPGetAction,
     .keep_zero = true,
     .number = 2},
    {.name = "tcpSocket",
     .scalar = Scalar::object,
     .type = &kTCPSocketAction,
     .keep_zero = true,
     .number = 3},
    {.name = "sleep",
     .scalar = Scalar::object,
     .type = &kSleepAction,
     .keep_zero = true,
     .number = 4},
};
constexpr Type kLifecycleHandler{.name = "LifecycleHandler", .fields = kLifecycleHandlerFields};

constexpr Field kLifecycleFields[] = {
    {.name = "postStart",
     .scalar = Scalar::object,
     .type = &kLifecycleHandler,
     .keep_zero = true,
     .number = 1},
    {.name = "preStop",
     .scalar = Scalar::object,
     .type = &kLifecycleHandler,
     .keep_zero = true,
     .number = 2},
    {.name = "stopSignal", .keep_zero = true, .number = 3},
};
constexpr Type kLifecycle{.name = "Lifecycle", .fields = kLifecycleFields};

constexpr Field kCapabilitiesFields[] = {
    {.name = "add", .shape = Shape::list, .number = 1},
    {.name = "drop", .shape = Shape::list, .number = 2},
};
constexpr Type kCapabilities{.name = "Capabilities", .fields = kCapabilitiesFields};

constexpr Field kSELinuxOptionsFields[] = {
    {.name = "user", .number = 1},
    {.name = "role", .number = 2},
    {.name = "type", .number = 3},
    {.name = "level", .number = 4},
};
constexpr Type kSELinuxOptions{.name = "SELinuxOptions", .fields = kSELinuxOptionsFields};

constexpr Field kWindowsSecurityContextOptionsFields[] = {
    {.name = "gmsaCredentialSpecName", .keep_zero = true, .number = 1},
    {.name = "gmsaCredentialSpec", .keep_zero = true, .number = 2},
    {.name = "runAsUserName", .keep_zero = true, .number = 3},
    {.name = "hostProcess", .scalar = Scalar::boolean, .keep_zero = true, .number = 4},
};
constexpr Type kWindowsSecurityContextOptions{.name = "WindowsSecurityContextOptions",
                                              .fields = kWindowsSecurityContextOptionsFields};

constexpr Field kSeccompProfileFields[] = {
    {.name = "type", .required_zero = true, .number = 1},
    {.name = "localhostProfile", .keep_zero = true, .number = 2},
};
constexpr Type kSeccompProfile{.name = "SeccompProfile", .fields = kSeccompProfileFields};

constexpr Field kAppArmorProfileFields[] = {
    {.name = "type", .required_zero = true, .number = 1},
    {.name = "localhostProfile", .keep_zero = true, .number = 2},
};
constexpr Type kAppArmorProfile{.name = "AppArmorProfile", .fields = kAppArmorProfileFields};

constexpr Field kSecurityContextFields[] = {
    {.name = "capabilities",
     .scalar = Scalar::object,
     .type = &kCapabilities,
     .keep_zero = true,
     .number = 1},
    {.name = "privileged", .scalar = Scalar::boolean, .keep_zero = true, .number = 2},
    {.name = "seLinuxOptions",
     .scalar = Scalar::object,
     .type = &kSELinuxOptions,
     .keep_zero = true,
     .number = 3},
    {.name = "windowsOptions",
     .scalar = Scalar::object,
     .type = &kWindowsSecurityContextOptions,
     .keep_zero = true,
     .number = 10},
    {.name = "runAsUser", .scalar = Scalar::int64, .keep_zero = true, .number = 4},
    {.name = "runAsGroup", .scalar = Scalar::int64, .keep_zero = true, .number = 8},
    {.name = "runAsNonRoot", .scalar = Scalar::boolean, .keep_zero = true, .number = 5},
    {.name = "readOnlyRootFilesystem", .scalar = Scalar::boolean, .keep_zero = true, .number = 6},
    {.name = "allowPrivilegeEscalation", .scalar = Scalar::boolean, .keep_zero = true, .number = 7},
    {.name = "procMount", .keep_zero = true, .number = 9},
    {.name = "seccompProfile",
     .scalar = Scalar::object,
     .type = &kSeccompProfile,
     .keep_zero = true,
     .number = 11},
    {.name = "appArmorProfile",
     .scalar = Scalar::object,
     .type = &kAppArmorProfile,
     .keep_zero = true,
     .number = 12},
};
constexpr Type kSecurityContext{.name = "SecurityContext", .fields = kSecurityContextFields};

constexpr Field kContainerFields[] = {
    {.name = "name", .required_zero = true, .number = 1},
    {.name = "image", .number = 2},
    {.name = "command", .shape = Shape::list, .number = 3},
    {.name = "args", .shape = Shape::list, .number = 4},
    {.name = "workingDir", .number = 5},
    {.name = "ports",
     .scalar = Scalar::object,
     .shape = Shape::list,
     .type = &kContainerPort,
     .list = ListKind::map,
     .list_keys = "containerPort,protocol",
     .merge_key = "containerPort",
     .merge = true,
     .number = 6},
    {.name = "envFrom",
     .scalar = Scalar::object,
     .shape = Shape::list,
     .type = &kEnvFromSource,
     .number = 19},
    {.name = "env",
     .scalar = Scalar::object,
     .shape = Shape::list,
     .type = &kEnvVar,
     .list = ListKind::map,
     .list_keys = "name",
     .merge_key = "name",
     .merge = true,
     .number = 7},
    {.name = "resources",
     .scalar = Scalar::object,
     .type = &kResourceRequirements,
     .required_zero = true,
     .number = 8},
    {.name = "resizePolicy",
     .scalar = Scalar::object,
     .shape = Shape::list,
     .type = &kContainerResizePolicy,
     .number = 23},
    {.name = "restartPolicy", .keep_zero = true, .number = 24},
    {.name = "restartPolicyRules",
     .scalar = Scalar::object,
     .shape = Shape::list,
     .type = &kContainerRestartRule,
     .number = 25},
    {.name = "volumeMounts",
     .scalar = Scalar::object,
     .shape = Shape::list,
     .type = &kVolumeMount,
     .list = ListKind::map,
     .list_keys = "mountPath",
     .merge_key = "mountPath",
     .merge = true,
     .number = 9},
    {.name = "volumeDevices",
     .scalar = Scalar::object,
     .shape = Shape::list,
     .type = &kVolumeDevice,
     .list = ListKind::map,
     .list_keys = "devicePath",
     .merge_key = "devicePath",
     .merge = true,
     .number = 21},
    {.name = "livenessProbe",
     .scalar = Scalar::object,
     .type = &kProbe,
     .keep_zero = true,
     .number = 10},
    {.name = "readinessProbe",
     .scalar = Scalar::object,
     .type = &kProbe,
     .keep_zero = true,
     .number = 11},
    {.name = "startupProbe",
     .scalar = Scalar::object,
     .type = &kProbe,
     .keep_zero = true,
     .number = 22},
    {.name = "lifecycle",
     .scalar = Scalar::object,
     .type = &kLifecycle,
     .keep_zero = true,
     .number = 12},
    {.name = "terminationMessagePath", .fallback = R"("/dev/termination-log")", .number = 13},
    {.name = "terminationMessagePolicy", .fallback = R"("File")", .number = 20},
    {.name = "imagePullPolicy", .number = 14},
    {.name = "securityContext",
     .scalar = Scalar::object,
     .type = &kSecurityContext,
     .keep_zero = true,
     .number = 15},
    {.name = "stdin", .scalar = Scalar::boolean, .number = 16},
    {.name = "stdinOnce", .scalar = Scalar::boolean, .number = 17},
    {.name = "tty", .scalar = Scalar::boolean, .number = 18},
};
constexpr Type kContainer{.name = "Container", .fields = kContainerFields};

constexpr Field kEphemeralContainerFields[] = {
    {.name = "name", .required_zero = true, .number = 1, .inside = 1},
    {.name = "image", .number = 2, .inside = 1},
    {.name = "command", .shape = Shape::list, .number = 3, .inside = 1},
    {.name = "args", .shape = Shape::list, .number = 4, .inside = 1},
    {.name = "workingDir", .number = 5, .inside = 1},
    {.name = "ports",
     .scalar = Scalar::object,
     .shape = Shape::list,
     .type = &kContainerPort,
     .list = ListKind::map,
     .list_keys = "containerPort,protocol",
     .merge_key = "containerPort",
     .merge = true,
     .number = 6,
     .inside = 1},
    {.name = "envFrom",
     .scalar = Scalar::object,
     .shape = Shape::list,
     .type = &kEnvFromSource,
     .number = 19,
     .inside = 1},
    {.name = "env",
     .scalar = Scalar::object,
     .shape = Shape::list,
     .type = &kEnvVar,
     .list = ListKind::map,
     .list_keys = "name",
     .merge_key = "name",
     .merge = true,
     .number = 7,
     .inside = 1},
    {.name = "resources",
     .scalar = Scalar::object,
     .type = &kResourceRequirements,
     .required_zero = true,
     .number = 8,
     .inside = 1},
    {.name = "resizePolicy",
     .scalar = Scalar::object,
     .shape = Shape::list,
     .type = &kContainerResizePolicy,
     .number = 23,
     .inside = 1},
    {.name = "restartPolicy", .keep_zero = true, .number = 24, .inside = 1},
    {.name = "restartPolicyRules",
     .scalar = Scalar::object,
     .shape = Shape::list,
     .type = &kContainerRestartRule,
     .number = 25,
     .inside = 1},
    {.name = "volumeMounts",
     .scalar = Scalar::object,
     .shape = Shape::list,
     .type = &kVolumeMount,
     .list = ListKind::map,
     .list_keys = "mountPath",
     .merge_key = "mountPath",
     .merge = true,
     .number = 9,
     .inside = 1},
    {.name = "volumeDevices",
     .scalar = Scalar::object,
     .shape = Shape::list,
     .type = &kVolumeDevice,
     .list = ListKind::map,
     .list_keys = "devicePath",
     .merge_key = "devicePath",
     .merge = true,
     .number = 21,
     .inside = 1},
    {.name = "livenessProbe",
     .scalar = Scalar::object,
     .type = &kProbe,
     .keep_zero = true,
     .number = 10,
     .inside = 1},
    {.name = "readinessProbe",
     .scalar = Scalar::object,
     .type = &kProbe,
     .keep_zero = true,
     .number = 11,
     .inside = 1},
    {.name = "startupProbe",
     .scalar = Scalar::object,
     .type = &kProbe,
     .keep_zero = true,
     .number = 22,
     .inside = 1},
    {.name = "lifecycle",
     .scalar = Scalar::object,
     .type = &kLifecycle,
     .keep_zero = true,
     .number = 12,
     .inside = 1},
    {.name = "terminationMessagePath",
     .fallback = R"("/dev/termination-log")",
     .number = 13,
     .inside = 1},
    {.name = "terminationMessagePolicy", .fallback = R"("File")", .number = 20, .inside = 1},
    {.name = "imagePullPolicy", .number = 14, .inside = 1},
    {.name = "securityContext",
     .scalar = Scalar::object,
     .type = &kSecurityContext,
     .keep_zero = true,
     .number = 15,
     .inside = 1},
    {.name = "stdin", .scalar = Scalar::boolean, .number = 16, .inside = 1},
    {.name = "stdinOnce", .scalar = Scalar::boolean, .number = 17, .inside = 1},
    {.name = "tty", .scalar = Scalar::boolean, .number = 18, .inside = 1},
    {.name = "targetContainerName", .number = 2},
};
constexpr Type kEphemeralContainer{.name = "EphemeralContainer",
                                   .fields = kEphemeralContainerFields};

}  // namespace plim::local::apiserver
