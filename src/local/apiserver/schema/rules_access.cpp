// Roles and role bindings.
#include <string>

#include "local/apiserver/schema/rule_tables.hpp"

namespace plim::local::apiserver {
namespace {

using namespace rule;

enum class Scope { cluster, space };

template <Scope kScope>
void check_policy_rule(const Place& rule, const json::value* /*before*/, Causes& causes) {
  if (rule.list("nonResourceURLs").empty()) {
    if (rule.list("apiGroups").empty())
      causes.required(rule.path("apiGroups"), "resource rules must supply at least one api group");
    if (rule.list("resources").empty())
      causes.required(rule.path("resources"), "resource rules must supply at least one resource");
    return;
  }
  if (kScope == Scope::space)
    causes.invalid(rule.path("nonResourceURLs"), rule.member("nonResourceURLs"),
                   "namespaced rules cannot apply to non-resource URLs");
  for (std::string_view field : {"apiGroups", "resources", "resourceNames"}) {
    if (rule.list(field).empty()) continue;
    return causes.invalid(rule.path("nonResourceURLs"), rule.member("nonResourceURLs"),
                          "rules cannot apply to both regular resources and non-resource URLs");
  }
}

template <Scope kScope>
constexpr Rule kPolicyRule[] = {
    required("verbs"),
    custom(check_policy_rule<kScope>),
};

constexpr Rule kRole[] = {each("rules", kPolicyRule<Scope::space>)};
constexpr Rule kClusterRole[] = {each("rules", kPolicyRule<Scope::cluster>)};

constexpr std::string_view kGroup = "rbac.authorization.k8s.io";

template <Scope kScope>
void check_subject(const Place& subject, const json::value* /*before*/, Causes& causes) {
  std::string_view kind = subject.text("kind");
  std::string_view group = subject.text("apiGroup");
  if (kind == "ServiceAccount") {
    std::string_view name = subject.text("name");
    if (!name.empty()) causes.invalid_text(subject.path("name"), name, check_dns_subdomain(name));
    if (!group.empty()) causes.unsupported(subject.path("apiGroup"), json::value(group), "");
    if (kScope == Scope::cluster && subject.text("namespace").empty())
      causes.required(subject.path("namespace"));
  } else if (kind == "User" || kind == "Group") {
    if (group != kGroup) causes.unsupported(subject.path("apiGroup"), json::value(group), kGroup);
  } else {
    causes.unsupported(subject.path("kind"), json::value(kind), "ServiceAccount,User,Group");
  }
}

template <Scope kScope>
constexpr Rule kSubject[] = {required("name"), custom(check_subject<kScope>)};

constexpr Rule kRoleRef[] = {
    one_of("apiGroup", kGroup),
    one_of("kind", "Role,ClusterRole"),
    required("name"),
    text("name", check_path_segment),
};

constexpr Rule kClusterRoleRef[] = {
    one_of("apiGroup", kGroup),
    one_of("kind", "ClusterRole"),
    required("name"),
    text("name", check_path_segment),
};

// Printed as upstream does, with the names of its Go struct.
void check_same_role(const Place& binding, const json::value* before, Causes& causes) {
  if (before == nullptr || binding.member("roleRef") == Place(*before).member("roleRef")) return;
  causes.invalid("roleRef",
                 json::object{{"APIGroup", binding.member("roleRef.apiGroup")},
                              {"Kind", binding.member("roleRef.kind")},
                              {"Name", binding.member("roleRef.name")}},
                 kImmutable);
}

constexpr Rule kRoleBinding[] = {
    inside("roleRef", kRoleRef),
    each("subjects", kSubject<Scope::space>),
    custom(check_same_role),
};

constexpr Rule kClusterRoleBinding[] = {
    inside("roleRef", kClusterRoleRef),
    each("subjects", kSubject<Scope::cluster>),
    custom(check_same_role),
};

}  // namespace

constinit const RuleTable kRoleRules{kRole};
constinit const RuleTable kClusterRoleRules{kClusterRole};
constinit const RuleTable kRoleBindingRules{kRoleBinding};
constinit const RuleTable kClusterRoleBindingRules{kClusterRoleBinding};

}  // namespace plim::local::apiserver
