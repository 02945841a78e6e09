// Pods and their templates.
#include <string>

#include <fmt/format.h>

#include "base/text.hpp"
#include "local/apiserver/schema/checks.hpp"
#include "local/apiserver/schema/rule_tables.hpp"

namespace plim::local::apiserver {
namespace {

using namespace rule;

void check_toleration(const Place& toleration, const json::value* /*before*/, Causes& causes) {
  std::string_view key = toleration.text("key");
  std::string_view how = toleration.text("operator");
  std::string_view value = toleration.text("value");
  const std::string_view effect = toleration.text("effect");
  if (key.empty() && how != "Exists")
    causes.invalid(toleration.path("operator"), json::value(how),
                   "operator must be Exists when `key` is empty, which means \"match all values "
                   "and all keys\"");
  if (toleration.has("tolerationSeconds") && effect != "NoExecute")
    causes.invalid(toleration.path("effect"), json::value(effect),
                   "effect must be 'NoExecute' when `tolerationSeconds` is set");
  if (how == "Exists" && !value.empty())
    causes.invalid(toleration.path("operator"), json::value(value),
                   "value must be empty when `operator` is 'Exists'");
  if (how.empty() || how == "Equal")
    causes.invalid_text(toleration.path("operator"), value, check_label_text(value));
  else if (how == "Lt" || how == "Gt")  // behind a feature gate that is off
    causes.unsupported(toleration.path("operator"), json::value(how), "Equal,Exists,Lt,Gt");
  else if (how != "Exists")
    causes.unsupported(toleration.path("operator"), json::value(how), "Equal,Exists");
}

constexpr Rule kToleration[] = {
    text("key", check_qualified_name),
    custom(check_toleration),
    one_of("effect", "NoSchedule,PreferNoSchedule,NoExecute"),
};

void check_spread(const Place& spread, const json::value* /*before*/, Causes& causes) {
  // Upstream treats a missing value as 0 here.
  auto skew = spread.number("maxSkew");
  if (skew.value_or(0) <= 0)
    causes.invalid(spread.path("maxSkew"), skew.value_or(0), "must be greater than zero");
  if (spread.text("topologyKey").empty())
    causes.required(spread.path("topologyKey"), "can not be empty");
  std::string_view action = spread.text("whenUnsatisfiable");
  if (action != "DoNotSchedule" && action != "ScheduleAnyway")
    causes.unsupported(spread.path("whenUnsatisfiable"), json::value(action),
                       "DoNotSchedule,ScheduleAnyway");
  auto domains = spread.number("minDomains");
  if (!domains) return;
  if (*domains <= 0)
    causes.invalid(spread.path("minDomains"), *domains, "must be greater than zero");
  if (action != "DoNotSchedule")
    causes.invalid(
        spread.path("minDomains"), *domains,
        fmt::format("can only use minDomains if whenUnsatisfiable=DoNotSchedule, not {}", action));
}

constexpr Rule kSpread[] = {
    custom(check_spread),
    one_of("nodeAffinityPolicy", "Honor,Ignore"),
    one_of("nodeTaintsPolicy", "Honor,Ignore"),
    custom(check_label_keys),
};

void check_gates(const Place& spec, const json::value* /*before*/, Causes& causes) {
  const json::array& gates = spec.list("schedulingGates");
  for (std::size_t i = 0; i < gates.size(); ++i) {
    std::string path = fmt::format("{}[{}]", spec.path("schedulingGates"), i);
    std::string_view name = text_at(gates[i], {"name"});
    causes.invalid_text(path, name, check_qualified_name(name));
    for (std::size_t earlier = 0; earlier < i; ++earlier)
      if (text_at(gates[earlier], {"name"}) == name) {
        causes.duplicate(path, json::value(name));
        break;
      }
  }
}

constexpr Rule kPodSpec[] = {
    each("volumes", kVolumeRules),
    required("containers"),
    each("containers", kContainerRules),
    each("initContainers", kInitContainerRules),
    required("restartPolicy"),
    one_of("restartPolicy", "Always,OnFailure,Never"),
    required("dnsPolicy"),
    one_of("dnsPolicy", "ClusterFirstWithHostNet,ClusterFirst,Default,None"),
    labels("nodeSelector"),
    inside("affinity", kAffinityRules),
    custom(check_gates),
    each("topologySpreadConstraints", kSpread),
    text("serviceAccountName", check_dns_subdomain),
    text("nodeName", check_dns_subdomain),
    range("activeDeadlineSeconds", 1, 2147483647),
    text("hostname", check_dns_label),
    text("subdomain", check_dns_label),
    each("tolerations", kToleration),
    text("priorityClassName", check_dns_subdomain),
    text("runtimeClassName", check_dns_subdomain),
    one_of("preemptionPolicy", "PreemptLowerPriority,Never"),
};

// Upstream omits the word "metadata" from these paths.
void check_template_metadata(const Place& pod_template, const json::value* /*before*/,
                             Causes& causes) {
  check_labels(pod_template.under("labels", pod_template.member("metadata.labels")), causes);
  check_annotations(pod_template.under("annotations", pod_template.member("metadata.annotations")),
                    causes);
}

constexpr Rule kTemplate[] = {
    custom(check_template_metadata),
    inside("spec", kPodSpec),
};

constexpr Rule kTemplateKind[] = {inside("template", kTemplate)};

void check_images(const Place& pod, const json::value* /*before*/, Causes& causes) {
  for (std::string_view list : {"spec.containers", "spec.initContainers"}) {
    std::size_t index = 0;
    for (const json::value& container : pod.list(list)) {
      std::string_view image = text_at(container, {"image"});
      if (trim(image).size() != image.size())
        causes.invalid(fmt::format("{}[{}].image", list, index), json::value(image),
                       "must not have leading or trailing whitespace");
      ++index;
    }
  }
}

void check_create_or_update(const Place& pod, const json::value* before, Causes& causes) {
  if (before != nullptr) return check_pod_update(pod.value(), *before, causes);
  if (!pod.list("spec.ephemeralContainers").empty())
    causes.forbidden("spec.ephemeralContainers", "cannot be set on create");
  if (!pod.text("spec.nodeName").empty() && !pod.list("spec.schedulingGates").empty())
    causes.forbidden("spec.nodeName", "cannot be set until all schedulingGates have been cleared");
}

constexpr Rule kPod[] = {
    inside("spec", kPodSpec),
    custom(check_images),
    custom(check_create_or_update),
};

void check_resize(const Place& pod, const json::value* before, Causes& causes) {
  check_pod_resize(pod.value(), *before, causes);
}

constexpr Rule kPodResize[] = {
    inside("spec", kPodSpec),
    custom(check_images),
    custom(check_resize),
};

}  // namespace

constinit const RuleTable kPodSpecRules{kPodSpec};
constinit const RuleTable kPodTemplateRules{kTemplate};
constinit const RuleTable kPodTemplateKindRules{kTemplateKind};
constinit const RuleTable kPodRules{kPod};
constinit const RuleTable kPodResizeRules{kPodResize};

}  // namespace plim::local::apiserver
