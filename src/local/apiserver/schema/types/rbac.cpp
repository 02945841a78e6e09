// The group rbac.authorization.k8s.io.
#include "local/apiserver/schema/types/type_tables.hpp"

namespace plim::local::apiserver {

constexpr Field kPolicyRuleFields[] = {
    {.name = "verbs", .shape = Shape::list, .keep_zero = true, .number = 1},
    {.name = "apiGroups", .shape = Shape::list, .number = 2},
    {.name = "resources", .shape = Shape::list, .number = 3},
    {.name = "resourceNames", .shape = Shape::list, .number = 4},
    {.name = "nonResourceURLs", .shape = Shape::list, .number = 5},
};
constexpr Type kPolicyRule{.name = "PolicyRule", .fields = kPolicyRuleFields};

constexpr Field kRoleFields[] = {
    {.name = "kind"},
    {.name = "apiVersion"},
    {.name = "metadata",
     .scalar = Scalar::object,
     .type = &kObjectMeta,
     .required_zero = true,
     .number = 1},
    {.name = "rules",
     .scalar = Scalar::object,
     .shape = Shape::list,
     .type = &kPolicyRule,
     .keep_zero = true,
     .number = 2},
};
constexpr Type kRole{.name = "Role", .fields = kRoleFields};

constexpr Field kSubjectFields[] = {
    {.name = "kind", .required_zero = true, .number = 1},
    {.name = "apiGroup", .number = 2},
    {.name = "name", .required_zero = true, .number = 3},
    {.name = "namespace", .number = 4},
};
constexpr Type kSubject{.name = "Subject", .fields = kSubjectFields};

constexpr Field kRoleRefFields[] = {
    {.name = "apiGroup",
     .required_zero = true,
     .fallback = R"("rbac.authorization.k8s.io")",
     .number = 1},
    {.name = "kind", .required_zero = true, .number = 2},
    {.name = "name", .required_zero = true, .number = 3},
};
constexpr Type kRoleRef{.name = "RoleRef", .fields = kRoleRefFields};

constexpr Field kRoleBindingFields[] = {
    {.name = "kind"},
    {.name = "apiVersion"},
    {.name = "metadata",
     .scalar = Scalar::object,
     .type = &kObjectMeta,
     .required_zero = true,
     .number = 1},
    {.name = "subjects",
     .scalar = Scalar::object,
     .shape = Shape::list,
     .type = &kSubject,
     .number = 2},
    {.name = "roleRef",
     .scalar = Scalar::object,
     .type = &kRoleRef,
     .atomic = true,
     .required_zero = true,
     .number = 3},
};
constexpr Type kRoleBinding{.name = "RoleBinding", .fields = kRoleBindingFields};

constexpr Field kAggregationRuleFields[] = {
    {.name = "clusterRoleSelectors",
     .scalar = Scalar::object,
     .shape = Shape::list,
     .type = &kLabelSelector,
     .number = 1},
};
constexpr Type kAggregationRule{.name = "AggregationRule", .fields = kAggregationRuleFields};

constexpr Field kClusterRoleFields[] = {
    {.name = "kind"},
    {.name = "apiVersion"},
    {.name = "metadata",
     .scalar = Scalar::object,
     .type = &kObjectMeta,
     .required_zero = true,
     .number = 1},
    {.name = "rules",
     .scalar = Scalar::object,
     .shape = Shape::list,
     .type = &kPolicyRule,
     .keep_zero = true,
     .number = 2},
    {.name = "aggregationRule",
     .scalar = Scalar::object,
     .type = &kAggregationRule,
     .keep_zero = true,
     .number = 3},
};
constexpr Type kClusterRole{.name = "ClusterRole", .fields = kClusterRoleFields};

constexpr Field kClusterRoleBindingFields[] = {
    {.name = "kind"},
    {.name = "apiVersion"},
    {.name = "metadata",
     .scalar = Scalar::object,
     .type = &kObjectMeta,
     .required_zero = true,
     .number = 1},
    {.name = "subjects",
     .scalar = Scalar::object,
     .shape = Shape::list,
     .type = &kSubject,
     .number = 2},
    {.name = "roleRef",
     .scalar = Scalar::object,
     .type = &kRoleRef,
     .atomic = true,
     .required_zero = true,
     .number = 3},
};
constexpr Type kClusterRoleBinding{.name = "ClusterRoleBinding",
                                   .fields = kClusterRoleBindingFields};

}  // namespace plim::local::apiserver
