#include "local/apiserver/table/cells.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "kube/selector.hpp"

namespace plim::local::apiserver::cells {

std::string name(const json::value& object) {
  return text(object, {"metadata", "name"});
}

std::string age(const json::value& object, WallTime now) {
  return human_age(text_at(object, {"metadata", "creationTimestamp"}), now);
}

std::string text(const json::value& object, Path path, std::string_view fallback) {
  const std::string_view found = text_at(object, path);
  return std::string(found.empty() ? fallback : found);
}

std::int64_t number(const json::value& object, Path path, std::int64_t fallback) {
  return int_at(object, path).value_or(fallback);
}

const json::array& list(const json::value& object, Path path) {
  return list_at(object, path);
}

const json::object& members(const json::value& object, Path path) {
  static const json::object none;
  const json::value* found = find(object, path);
  return found && found->is_object() ? found->get_object() : none;
}

std::int64_t size(const json::value& object, Path path) {
  return static_cast<std::int64_t>(list(object, path).size() + members(object, path).size());
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

std::string labels(const json::value& object, Path path) {
  std::vector<std::string> out;
  for (const json::key_value_pair& label : members(object, path)) {
    const json::string* value = label.value().if_string();
    out.push_back(fmt::format("{}={}", std::string_view(label.key()),
                              value ? std::string_view(*value) : std::string_view()));
  }
  std::sort(out.begin(), out.end());
  return out.empty() ? "<none>" : join(out);
}

std::string selector(const json::value& object, Path path) {
  const json::value* found = find(object, path);
  if (!found) return "<none>";
  const auto parsed = kube::LabelSelector::from_json(*found);
  if (!parsed) return "<error>";
  const std::string out = parsed->to_string();
  return out.empty() ? "<none>" : out;
}

std::string scalar(const json::value& object, Path path) {
  const json::value* found = find(object, path);
  if (!found || found->is_null()) return "";
  return found->is_string() ? std::string(found->get_string()) : to_json(*found);
}

Containers containers(const json::value& object, Path pod_spec) {
  std::vector<std::string> names;
  std::vector<std::string> images;
  if (const json::value* spec = find(object, pod_spec)) {
    for (const json::value& container : list(*spec, {"containers"})) {
      names.push_back(text(container, {"name"}));
      images.push_back(text(container, {"image"}));
    }
  }
  return {.names = join(names), .images = join(images)};
}

const json::value* condition(const json::value& object, std::string_view type) {
  for (const json::value& candidate : list(object, {"status", "conditions"}))
    if (text_at(candidate, {"type"}) == type) return &candidate;
  return nullptr;
}

bool is_true(const json::value& object, std::string_view condition_type) {
  const json::value* found = condition(object, condition_type);
  return found && text_at(*found, {"status"}) == "True";
}

}  // namespace plim::local::apiserver::cells
