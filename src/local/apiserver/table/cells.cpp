#include "local/apiserver/table/cells.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "kube/selector.hpp"

namespace plim::local::apiserver::cells {
namespace {

std::string scalar_text(const json::value* value) {
  if (!value || value->is_null()) return "";
  return value->is_string() ? std::string(value->get_string()) : to_json(*value);
}

}  // namespace

std::string name(const json::value& object) {
  return text(object, "Object.metadata.name");
}

std::string age(const json::value& object, WallTime now) {
  return human_age(kube::text_at(object, "Object.metadata.creationTimestamp"), now);
}

std::string text(const json::value& object, kube::TextPath path, std::string_view fallback) {
  const std::string_view found = kube::text_at(object, path);
  return std::string(found.empty() ? fallback : found);
}

std::int64_t number(const json::value& object, kube::IntPath path, std::int64_t fallback) {
  return kube::int_at(object, path).value_or(fallback);
}

const json::array& list(const json::value& object, kube::ListPath path) {
  return kube::list_at(object, path);
}

const json::object& members(const json::value& object, kube::MapPath path) {
  static const json::object none;
  const json::value* found = kube::find(object, path);
  return found && found->is_object() ? found->get_object() : none;
}

std::int64_t size(const json::value& object, CountPath path) {
  const json::value* found = kube::find(object, path);
  if (found && found->is_array()) return static_cast<std::int64_t>(found->get_array().size());
  if (found && found->is_object()) return static_cast<std::int64_t>(found->get_object().size());
  return 0;
}

std::string join(const std::vector<std::string>& parts, std::string_view separator) {
  return fmt::format("{}", fmt::join(parts, separator));
}

std::string join_some(const std::vector<std::string>& parts, std::size_t shown,
                      std::string_view separator) {
  if (parts.size() <= shown) return join(parts, separator);
  const std::vector<std::string> first(parts.begin(),
                                       parts.begin() + static_cast<std::ptrdiff_t>(shown));
  return fmt::format("{} + {} more...", join(first, separator), parts.size() - shown);
}

std::string labels(const json::value& object, kube::MapPath path) {
  std::vector<std::string> out;
  for (const json::key_value_pair& label : members(object, path)) {
    const json::string* value = label.value().if_string();
    out.push_back(fmt::format("{}={}", std::string_view(label.key()),
                              value ? std::string_view(*value) : std::string_view()));
  }
  std::sort(out.begin(), out.end());
  return out.empty() ? "<none>" : join(out);
}

std::string selector(const json::value& object, kube::StructPath path) {
  const json::value* found = kube::find(object, path);
  if (!found) return "<none>";
  const auto parsed = kube::LabelSelector::from_json(*found);
  if (!parsed) return "<error>";
  const std::string out = parsed->to_string();
  return out.empty() ? "<none>" : out;
}

std::string scalar(const json::value& object, kube::AnyPath path) {
  return scalar_text(kube::find(object, path));
}

std::string scalar(const json::value& object, kube::MapPath path, std::string_view key) {
  return scalar_text(kube::find(object, path, key));
}

Containers containers(const json::value& object, kube::StructPath pod_spec) {
  std::vector<std::string> names;
  std::vector<std::string> images;
  if (const json::value* spec = kube::find(object, pod_spec)) {
    for (const json::value& container : list(*spec, "PodSpec.containers")) {
      names.push_back(text(container, "Container.name"));
      images.push_back(text(container, "Container.image"));
    }
  }
  return {.names = join(names), .images = join(images)};
}

const json::value* condition(const json::value& object, std::string_view type) {
  for (const json::value& candidate : list(object, "Pod.status.conditions"))
    if (kube::text_at(candidate, "Condition.type") == type) return &candidate;
  return nullptr;
}

bool is_true(const json::value& object, std::string_view condition_type) {
  const json::value* found = condition(object, condition_type);
  return found && kube::text_at(*found, "Condition.status") == "True";
}

}  // namespace plim::local::apiserver::cells
