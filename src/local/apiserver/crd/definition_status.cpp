// Computes the status of a definition: whether its names are accepted and its kinds are served.
#include <algorithm>

#include "base/rfc3339.hpp"
#include "kube/paths.hpp"
#include "local/apiserver/crd/custom_resources.hpp"

namespace plim::local::apiserver {
namespace {

const json::value* condition_of(const json::value& definition, std::string_view type) {
  for (const json::value& condition :
       kube::list_at(definition, "CustomResourceDefinition.status.conditions"))
    if (kube::text_at(condition, "CustomResourceDefinitionCondition.type") == type)
      return &condition;
  return nullptr;
}

struct Verdict {
  std::string_view type;
  bool holds = false;
  std::string_view reason;
  std::string_view message;
};

json::value condition(const json::value& definition, const Verdict& verdict, WallTime now) {
  const std::string_view status = verdict.holds ? "True" : "False";
  const json::value* before = condition_of(definition, verdict.type);
  std::string since = format_rfc3339(now);
  if (before && kube::text_at(*before, "CustomResourceDefinitionCondition.status") == status)
    since = kube::text_at(*before, "CustomResourceDefinitionCondition.lastTransitionTime");
  return json::object{{"type", verdict.type},
                      {"status", status},
                      {"lastTransitionTime", since},
                      {"reason", verdict.reason},
                      {"message", verdict.message}};
}

}  // namespace

json::value CustomResources::status_for(const json::value& definition) const {
  const auto [reason, message] = conflict(definition);
  const bool accepted = reason.empty();
  const Verdict names{.type = "NamesAccepted",
                      .holds = accepted,
                      .reason = accepted ? "NoConflicts" : std::string_view(reason),
                      .message = accepted ? "no conflicts found" : std::string_view(message)};
  const Verdict established{
      .type = "Established",
      .holds = accepted,
      .reason = accepted ? "InitialNamesAccepted" : "NotAccepted",
      .message = accepted ? "the initial names have been accepted" : "not all names are accepted"};
  json::array versions;
  if (const json::value* stored =
          kube::find(definition, "CustomResourceDefinition.status.storedVersions");
      stored && stored->is_array())
    versions = stored->get_array();
  if (const json::value* all = kube::find(definition, "CustomResourceDefinition.spec.versions");
      all && all->is_array()) {
    for (const json::value& version : all->get_array()) {
      const json::value name(kube::text_at(version, "CustomResourceDefinitionVersion.name"));
      if (kube::bool_at(version, "CustomResourceDefinitionVersion.storage") &&
          std::find(versions.begin(), versions.end(), name) == versions.end())
        versions.push_back(name);
    }
  }
  const WallTime now = clock_.wall();
  json::object accepted_names{{"plural", ""}, {"kind", ""}};
  if (accepted)
    accepted_names = kube::find(definition, "CustomResourceDefinition.spec.names")->as_object();
  return json::object{{"conditions", json::array{condition(definition, names, now),
                                                 condition(definition, established, now)}},
                      {"acceptedNames", std::move(accepted_names)},
                      {"storedVersions", std::move(versions)}};
}

}  // namespace plim::local::apiserver
