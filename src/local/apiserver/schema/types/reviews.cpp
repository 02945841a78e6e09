// The groups authentication.k8s.io and authorization.k8s.io: questions that are answered and not
// stored.
#include "local/apiserver/schema/types/type_tables.hpp"

namespace plim::local::apiserver {

constexpr Field kTokenReviewSpecFields[] = {
    {.name = "token", .number = 1},
    {.name = "audiences", .shape = Shape::list, .number = 2},
};
constexpr Type kTokenReviewSpec{.name = "TokenReviewSpec", .fields = kTokenReviewSpecFields};

constexpr Field kUserInfoFields[] = {
    {.name = "username", .number = 1},
    {.name = "uid", .number = 2},
    {.name = "groups", .shape = Shape::list, .number = 3},
    {.name = "extra", .scalar = Scalar::any, .shape = Shape::map, .number = 4},
};
constexpr Type kUserInfo{.name = "UserInfo", .fields = kUserInfoFields};

constexpr Field kTokenReviewStatusFields[] = {
    {.name = "authenticated", .scalar = Scalar::boolean, .number = 1},
    {.name = "user",
     .scalar = Scalar::object,
     .type = &kUserInfo,
     .required_zero = true,
     .number = 2},
    {.name = "audiences", .shape = Shape::list, .number = 4},
    {.name = "error", .number = 3},
};
constexpr Type kTokenReviewStatus{.name = "TokenReviewStatus", .fields = kTokenReviewStatusFields};

constexpr Field kTokenReviewFields[] = {
    {.name = "kind"},
    {.name = "apiVersion"},
    {.name = "metadata",
     .scalar = Scalar::object,
     .type = &kObjectMeta,
     .required_zero = true,
     .number = 1},
    {.name = "spec",
     .scalar = Scalar::object,
     .type = &kTokenReviewSpec,
     .required_zero = true,
     .number = 2},
    {.name = "status",
     .scalar = Scalar::object,
     .type = &kTokenReviewStatus,
     .required_zero = true,
     .number = 3},
};
constexpr Type kTokenReview{.name = "TokenReview", .fields = kTokenReviewFields};

constexpr Field kSelfSubjectReviewStatusFields[] = {
    {.name = "userInfo",
     .scalar = Scalar::object,
     .type = &kUserInfo,
     .required_zero = true,
     .number = 1},
};
constexpr Type kSelfSubjectReviewStatus{.name = "SelfSubjectReviewStatus",
                                        .fields = kSelfSubjectReviewStatusFields};

constexpr Field kSelfSubjectReviewFields[] = {
    {.name = "kind"},
    {.name = "apiVersion"},
    {.name = "metadata",
     .scalar = Scalar::object,
     .type = &kObjectMeta,
     .required_zero = true,
     .number = 1},
    {.name = "status",
     .scalar = Scalar::object,
     .type = &kSelfSubjectReviewStatus,
     .required_zero = true,
     .number = 2},
};
constexpr Type kSelfSubjectReview{.name = "SelfSubjectReview", .fields = kSelfSubjectReviewFields};

constexpr Field kBoundObjectReferenceFields[] = {
    {.name = "kind", .number = 1},
    {.name = "apiVersion", .number = 2},
    {.name = "name", .number = 3},
    {.name = "uid", .number = 4},
};
constexpr Type kBoundObjectReference{.name = "BoundObjectReference",
                                     .fields = kBoundObjectReferenceFields};

constexpr Field kTokenRequestSpecFields[] = {
    {.name = "audiences", .shape = Shape::list, .keep_zero = true, .number = 1},
    {.name = "expirationSeconds", .scalar = Scalar::int64, .keep_zero = true, .number = 4},
    {.name = "boundObjectRef",
     .scalar = Scalar::object,
     .type = &kBoundObjectReference,
     .keep_zero = true,
     .number = 3},
};
constexpr Type kTokenRequestSpec{.name = "TokenRequestSpec", .fields = kTokenRequestSpecFields};

constexpr Field kTokenRequestStatusFields[] = {
    {.name = "token", .required_zero = true, .number = 1},
    {.name = "expirationTimestamp", .scalar = Scalar::time, .number = 2},
};
constexpr Type kTokenRequestStatus{.name = "TokenRequestStatus",
                                   .fields = kTokenRequestStatusFields};

constexpr Field kAuthenticationTokenRequestFields[] = {
    {.name = "kind"},
    {.name = "apiVersion"},
    {.name = "metadata",
     .scalar = Scalar::object,
     .type = &kObjectMeta,
     .required_zero = true,
     .number = 1},
    {.name = "spec",
     .scalar = Scalar::object,
     .type = &kTokenRequestSpec,
     .required_zero = true,
     .number = 2},
    {.name = "status",
     .scalar = Scalar::object,
     .type = &kTokenRequestStatus,
     .required_zero = true,
     .number = 3},
};
constexpr Type kAuthenticationTokenRequest{.name = "TokenRequest",
                                           .fields = kAuthenticationTokenRequestFields};

constexpr Field kFieldSelectorAttributesFields[] = {
    {.name = "rawSelector", .number = 1},
    {.name = "requirements",
     .scalar = Scalar::object,
     .shape = Shape::list,
     .type = &kFieldSelectorRequirement,
     .number = 2},
};
constexpr Type kFieldSelectorAttributes{.name = "FieldSelectorAttributes",
                                        .fields = kFieldSelectorAttributesFields};

constexpr Field kLabelSelectorAttributesFields[] = {
    {.name = "rawSelector", .number = 1},
    {.name = "requirements",
     .scalar = Scalar::object,
     .shape = Shape::list,
     .type = &kLabelSelectorRequirement,
     .number = 2},
};
constexpr Type kLabelSelectorAttributes{.name = "LabelSelectorAttributes",
                                        .fields = kLabelSelectorAttributesFields};

constexpr Field kResourceAttributesFields[] = {
    {.name = "namespace", .number = 1},
    {.name = "verb", .number = 2},
    {.name = "group", .number = 3},
    {.name = "version", .number = 4},
    {.name = "resource", .number = 5},
    {.name = "subresource", .number = 6},
    {.name = "name", .number = 7},
    {.name = "fieldSelector",
     .scalar = Scalar::object,
     .type = &kFieldSelectorAttributes,
     .keep_zero = true,
     .number = 8},
    {.name = "labelSelector",
     .scalar = Scalar::object,
     .type = &kLabelSelectorAttributes,
     .keep_zero = true,
     .number = 9},
};
constexpr Type kResourceAttributes{.name = "ResourceAttributes",
                                   .fields = kResourceAttributesFields};

constexpr Field kNonResourceAttributesFields[] = {
    {.name = "path", .number = 1},
    {.name = "verb", .number = 2},
};
constexpr Type kNonResourceAttributes{.name = "NonResourceAttributes",
                                      .fields = kNonResourceAttributesFields};

constexpr Field kSubjectAccessReviewSpecFields[] = {
    {.name = "resourceAttributes",
     .scalar = Scalar::object,
     .type = &kResourceAttributes,
     .keep_zero = true,
     .number = 1},
    {.name = "nonResourceAttributes",
     .scalar = Scalar::object,
     .type = &kNonResourceAttributes,
     .keep_zero = true,
     .number = 2},
    {.name = "user", .number = 3},
    {.name = "groups", .shape = Shape::list, .number = 4},
    {.name = "extra", .scalar = Scalar::any, .shape = Shape::map, .number = 5},
    {.name = "uid", .number = 6},
};
constexpr Type kSubjectAccessReviewSpec{.name = "SubjectAccessReviewSpec",
                                        .fields = kSubjectAccessReviewSpecFields};

constexpr Field kSubjectAccessReviewStatusFields[] = {
    {.name = "allowed", .scalar = Scalar::boolean, .required_zero = true, .number = 1},
    {.name = "denied", .scalar = Scalar::boolean, .number = 4},
    {.name = "reason", .number = 2},
    {.name = "evaluationError", .number = 3},
};
constexpr Type kSubjectAccessReviewStatus{.name = "SubjectAccessReviewStatus",
                                          .fields = kSubjectAccessReviewStatusFields};

constexpr Field kSubjectAccessReviewFields[] = {
    {.name = "kind"},
    {.name = "apiVersion"},
    {.name = "metadata",
     .scalar = Scalar::object,
     .type = &kObjectMeta,
     .required_zero = true,
     .number = 1},
    {.name = "spec",
     .scalar = Scalar::object,
     .type = &kSubjectAccessReviewSpec,
     .required_zero = true,
     .number = 2},
    {.name = "status",
     .scalar = Scalar::object,
     .type = &kSubjectAccessReviewStatus,
     .required_zero = true,
     .number = 3},
};
constexpr Type kSubjectAccessReview{.name = "SubjectAccessReview",
                                    .fields = kSubjectAccessReviewFields};

constexpr Field kLocalSubjectAccessReviewFields[] = {
    {.name = "kind"},
    {.name = "apiVersion"},
    {.name = "metadata",
     .scalar = Scalar::object,
     .type = &kObjectMeta,
     .required_zero = true,
     .number = 1},
    {.name = "spec",
     .scalar = Scalar::object,
     .type = &kSubjectAccessReviewSpec,
     .required_zero = true,
     .number = 2},
    {.name = "status",
     .scalar = Scalar::object,
     .type = &kSubjectAccessReviewStatus,
     .required_zero = true,
     .number = 3},
};
constexpr Type kLocalSubjectAccessReview{.name = "LocalSubjectAccessReview",
                                         .fields = kLocalSubjectAccessReviewFields};

constexpr Field kSelfSubjectAccessReviewSpecFields[] = {
    {.name = "resourceAttributes",
     .scalar = Scalar::object,
     .type = &kResourceAttributes,
     .keep_zero = true,
     .number = 1},
    {.name = "nonResourceAttributes",
     .scalar = Scalar::object,
     .type = &kNonResourceAttributes,
     .keep_zero = true,
     .number = 2},
};
constexpr Type kSelfSubjectAccessReviewSpec{.name = "SelfSubjectAccessReviewSpec",
                                            .fields = kSelfSubjectAccessReviewSpecFields};

constexpr Field kSelfSubjectAccessReviewFields[] = {
    {.name = "kind"},
    {.name = "apiVersion"},
    {.name = "metadata",
     .scalar = Scalar::object,
     .type = &kObjectMeta,
     .required_zero = true,
     .number = 1},
    {.name = "spec",
     .scalar = Scalar::object,
     .type = &kSelfSubjectAccessReviewSpec,
     .required_zero = true,
     .number = 2},
    {.name = "status",
     .scalar = Scalar::object,
     .type = &kSubjectAccessReviewStatus,
     .required_zero = true,
     .number = 3},
};
constexpr Type kSelfSubjectAccessReview{.name = "SelfSubjectAccessReview",
                                        .fields = kSelfSubjectAccessReviewFields};

constexpr Field kSelfSubjectRulesReviewSpecFields[] = {
    {.name = "namespace", .number = 1},
};
constexpr Type kSelfSubjectRulesReviewSpec{.name = "SelfSubjectRulesReviewSpec",
                                           .fields = kSelfSubjectRulesReviewSpecFields};

constexpr Field kResourceRuleFields[] = {
    {.name = "verbs", .shape = Shape::list, .keep_zero = true, .number = 1},
    {.name = "apiGroups", .shape = Shape::list, .number = 2},
    {.name = "resources", .shape = Shape::list, .number = 3},
    {.name = "resourceNames", .shape = Shape::list, .number = 4},
};
constexpr Type kResourceRule{.name = "ResourceRule", .fields = kResourceRuleFields};

constexpr Field kNonResourceRuleFields[] = {
    {.name = "verbs", .shape = Shape::list, .keep_zero = true, .number = 1},
    {.name = "nonResourceURLs", .shape = Shape::list, .number = 2},
};
constexpr Type kNonResourceRule{.name = "NonResourceRule", .fields = kNonResourceRuleFields};

constexpr Field kSubjectRulesReviewStatusFields[] = {
    {.name = "resourceRules",
     .scalar = Scalar::object,
     .shape = Shape::list,
     .type = &kResourceRule,
     .keep_zero = true,
     .number = 1},
    {.name = "nonResourceRules",
     .scalar = Scalar::object,
     .shape = Shape::list,
     .type = &kNonResourceRule,
     .keep_zero = true,
     .number = 2},
    {.name = "incomplete", .scalar = Scalar::boolean, .required_zero = true, .number = 3},
    {.name = "evaluationError", .number = 4},
};
constexpr Type kSubjectRulesReviewStatus{.name = "SubjectRulesReviewStatus",
                                         .fields = kSubjectRulesReviewStatusFields};

constexpr Field kSelfSubjectRulesReviewFields[] = {
    {.name = "kind"},
    {.name = "apiVersion"},
    {.name = "metadata",
     .scalar = Scalar::object,
     .type = &kObjectMeta,
     .required_zero = true,
     .number = 1},
    {.name = "spec",
     .scalar = Scalar::object,
     .type = &kSelfSubjectRulesReviewSpec,
     .required_zero = true,
     .number = 2},
    {.name = "status",
     .scalar = Scalar::object,
     .type = &kSubjectRulesReviewStatus,
     .required_zero = true,
     .number = 3},
};
constexpr Type kSelfSubjectRulesReview{.name = "SelfSubjectRulesReview",
                                       .fields = kSelfSubjectRulesReviewFields};

}  // namespace plim::local::apiserver
