#include "local/controllers/namespace_content.hpp"

#include <fmt/format.h>

#include "kube/paths.hpp"
#include "local/controllers/conditions.hpp"

namespace plim::local::controllers {
namespace {

void judge(json::object& status, std::string_view type, bool bad, const NewCondition& good_case,
           const NewCondition& bad_case, WallTime now) {
  NewCondition condition = bad ? bad_case : good_case;
  condition.type = type;
  condition.status = bad ? "True" : "False";
  json::object made = make_condition(condition, now);
  const json::value as_value(status);
  const json::object* present = find_condition(as_value, type);
  if (present && present->contains("message") && present->at("status") == made["status"] &&
      present->at("message") == made["message"])
    return;
  put_condition(status, std::move(made));
}

}  // namespace

void NamespaceContent::add(const std::string& plural, const std::string& group,
                           const json::value& list) {
  const json::value* items = kube::find(list, "ObjectList.items");
  if (!items || !items->is_array() || items->get_array().empty()) return;
  resources[plural + "." + group] = static_cast<std::int64_t>(items->get_array().size());
  for (const json::value& item : items->get_array())
    for (const json::value& one : kube::list_at(item, "Object.metadata.finalizers"))
      if (one.is_string()) ++finalizers[std::string(one.get_string())];
}

json::value namespace_status(const json::value& before, const NamespaceContent& content,
                             WallTime now) {
  json::object status = before.is_object() ? before.get_object() : json::object();
  status[kube::key("NamespaceStatus.phase")] = "Terminating";
  auto text = [](const std::optional<Error>& error) {
    return error ? error->message : std::string();
  };
  std::string remaining;
  for (const auto& [name, count] : content.resources)
    remaining +=
        fmt::format("{}{} has {} resource instances", remaining.empty() ? "" : ", ", name, count);
  std::string waiting;
  for (const auto& [name, count] : content.finalizers)
    waiting +=
        fmt::format("{}{} in {} resource instances", waiting.empty() ? "" : ", ", name, count);
  const std::string discovery = text(content.discovery_error);
  const std::string deletion = text(content.deletion_error);
  const std::string some_remain = "Some resources are remaining: " + remaining;
  const std::string some_wait =
      "Some content in the namespace has finalizers remaining: " + waiting;
  judge(status, "NamespaceDeletionDiscoveryFailure", content.discovery_error.has_value(),
        {.reason = "ResourcesDiscovered", .message = "All resources successfully discovered"},
        {.reason = "DiscoveryFailed", .message = discovery}, now);
  judge(status, "NamespaceDeletionGroupVersionParsingFailure", false,
        {.reason = "ParsedGroupVersions", .message = "All legacy kube types successfully parsed"},
        {}, now);
  judge(status, "NamespaceDeletionContentFailure", content.deletion_error.has_value(),
        {.reason = "ContentDeleted",
         .message = "All content successfully deleted, may be waiting on finalization"},
        {.reason = "ContentDeletionFailed", .message = deletion}, now);
  judge(status, "NamespaceContentRemaining", !content.resources.empty(),
        {.reason = "ContentRemoved", .message = "All content successfully removed"},
        {.reason = "SomeResourcesRemain", .message = some_remain}, now);
  judge(
      status, "NamespaceFinalizersRemaining", !content.finalizers.empty(),
      {.reason = "ContentHasNoFinalizers", .message = "All content-preserving finalizers finished"},
      {.reason = "SomeFinalizersRemain", .message = some_wait}, now);
  return status;
}

}  // namespace plim::local::controllers
