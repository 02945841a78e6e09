// Checks updates of pods, which may change only few fields.
#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "base/text.hpp"
#include "kube/paths.hpp"
#include "local/apiserver/schema/checks.hpp"

namespace plim::local::apiserver {
namespace {

// False if the lists no longer match and nothing else can be compared.
bool check_same_containers(const json::value& spec, const json::value& old, std::string_view list,
                           Causes& causes) {
  const json::array& containers = list_at(spec, {list});
  if (containers.size() != list_at(old, {list}).size()) {
    causes.forbidden(fmt::format("spec.{}", list), "pod updates may not add or remove containers");
    return false;
  }
  std::size_t index = 0;
  for (const json::value& container : containers) {
    std::string place = fmt::format("spec.{}[{}].image", list, index++);
    std::string_view image = kube::text_at(container, "Container.image");
    if (image.empty()) causes.required(place);
    if (trim(image).size() != image.size())
      causes.invalid(place, json::value(image), "must not have leading or trailing whitespace");
  }
  return true;
}

void check_deadline(const json::value& spec, const json::value& old, Causes& causes) {
  const std::string path = "spec.activeDeadlineSeconds";
  auto now = kube::int_at(spec, "PodSpec.activeDeadlineSeconds");
  auto then = kube::int_at(old, "PodSpec.activeDeadlineSeconds");
  if (!now) {
    if (then) causes.invalid(path, nullptr, "must not update from a positive integer to nil value");
    return;
  }
  if (*now < 0 || *now > 2147483647)
    causes.invalid(path, *now, "must be between 0 and 2147483647, inclusive");
  else if (then && *then < *now)
    causes.invalid(path, *now, "must be less than or equal to previous value");
}

bool same_but_for_seconds(json::value a, json::value b) {
  if (!a.is_object() || !b.is_object()) return a == b;
  a.get_object().erase("tolerationSeconds");
  b.get_object().erase("tolerationSeconds");
  return a == b;
}

void check_tolerations(const json::value& spec, const json::value& old, Causes& causes) {
  const json::array& now = kube::list_at(spec, "PodSpec.tolerations");
  for (const json::value& toleration : kube::list_at(old, "PodSpec.tolerations")) {
    auto is_same = [&](const json::value& other) {
      return same_but_for_seconds(toleration, other);
    };
    if (std::any_of(now.begin(), now.end(), is_same)) continue;
    return causes.forbidden("spec.tolerations",
                            "existing toleration can not be modified except its tolerationSeconds");
  }
}

void check_gates(const json::value& spec, const json::value& old, Causes& causes) {
  const json::array& then = kube::list_at(old, "PodSpec.schedulingGates");
  std::size_t index = 0;
  for (const json::value& gate : kube::list_at(spec, "PodSpec.schedulingGates")) {
    if (std::find(then.begin(), then.end(), gate) == then.end())
      causes.forbidden(fmt::format("spec.schedulingGates[{}].name", index),
                       fmt::format("only deletion is allowed, but found new scheduling gate '{}'",
                                   kube::text_at(gate, "PodSchedulingGate.name")));
    ++index;
  }
}

void take_over(json::object& into, const json::value& from, std::string_view field) {
  const json::value* value = find(from, {field});
  if (value == nullptr)
    into.erase(field);
  else
    into[field] = *value;
}

// Restores images.
void take_over_containers(json::object& spec, const json::value& old, std::string_view list) {
  json::value* containers = spec.if_contains(list);
  if (containers == nullptr || !containers->is_array()) return;
  const json::array& then = list_at(old, {list});
  std::size_t index = 0;
  for (json::value& container : containers->get_array()) {
    const json::value& other = then[index++];
    if (!container.is_object()) continue;
    take_over(container.get_object(), other, "image");
  }
}

// The new spec with everything that may change set back to the old values.
json::value without_changes_allowed(const json::value& spec, const json::value& old) {
  json::value out = spec;
  if (!out.is_object()) return out;
  json::object& fields = out.get_object();
  take_over_containers(fields, old, "containers");
  take_over_containers(fields, old, "initContainers");
  for (std::string_view field : {"activeDeadlineSeconds", "tolerations", "schedulingGates"})
    take_over(fields, old, field);
  auto grace = kube::int_at(old, "PodSpec.terminationGracePeriodSeconds");
  if (grace && *grace < 0 && kube::int_at(spec, "PodSpec.terminationGracePeriodSeconds") == 1)
    take_over(fields, old, "terminationGracePeriodSeconds");
  // No scheduler has looked at a gated pod yet, so its placement may change.
  if (!kube::list_at(old, "PodSpec.schedulingGates").empty())
    for (std::string_view field : {"nodeSelector", "affinity"}) take_over(fields, old, field);
  return out;
}

}  // namespace

void check_pod_update(const json::value& pod, const json::value& before, Causes& causes) {
  const json::value& spec = value_at(pod, {"spec"});
  const json::value& old = value_at(before, {"spec"});
  if (spec == old) return;
  if (!check_same_containers(spec, old, "containers", causes) ||
      !check_same_containers(spec, old, "initContainers", causes))
    return;
  check_deadline(spec, old, causes);
  check_tolerations(spec, old, causes);
  check_gates(spec, old, causes);
  if (without_changes_allowed(spec, old) != old)
    causes.forbidden(
        "spec",
        "pod updates may not change fields other than `spec.containers[*].image`,"
        "`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only "
        "additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be "
        "set to 1 if it was previously negative)");
}

}  // namespace plim::local::apiserver
