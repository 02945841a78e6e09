// Adds default tolerations: pods stay on an unreachable node for five minutes.
#include <array>
#include <string_view>

#include "kube/paths.hpp"
#include "local/apiserver/api/mutators/mutators.hpp"

namespace plim::local::apiserver {
namespace {

constexpr int kSeconds = 300;
constexpr std::array<std::string_view, 2> kTaints{"node.kubernetes.io/not-ready",
                                                  "node.kubernetes.io/unreachable"};

bool tolerates(const json::array& tolerations, std::string_view taint) {
  for (const json::value& one : tolerations) {
    const std::string_view key = kube::text_at(one, "Toleration.key");
    const std::string_view effect = kube::text_at(one, "Toleration.effect");
    if ((key.empty() || key == taint) && (effect.empty() || effect == "NoExecute")) return true;
  }
  return false;
}

}  // namespace

ApiResult<void> set_default_tolerations(const Core& /*core*/, Admission& admission) {
  json::value& list = kube::make_object(admission.object, "Pod.spec")["tolerations"];
  if (!list.is_array()) list.emplace_array();
  json::array& tolerations = list.get_array();
  for (std::string_view taint : kTaints)
    if (!tolerates(tolerations, taint))
      tolerations.push_back({{"key", taint},
                             {"operator", "Exists"},
                             {"effect", "NoExecute"},
                             {"tolerationSeconds", kSeconds}});
  return {};
}

}  // namespace plim::local::apiserver
