// Helpers for cells of several kinds.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "base/json.hpp"
#include "kube/paths.hpp"
#include "local/apiserver/table/object_table.hpp"

namespace plim::local::apiserver::cells {

using CountPath = kube::Path<kube::paths::list | kube::paths::map>;

inline constexpr TableColumn kName{
    .name = "Name", .format = "name", .description = "Name, unique in its namespace"};
inline constexpr TableColumn kAge{.name = "Age", .description = "Time since it was created"};
inline constexpr TableColumn kContainers{
    .name = "Containers", .description = "Names of the containers", .priority = 1};
inline constexpr TableColumn kImages{
    .name = "Images", .description = "Images of the containers", .priority = 1};
inline constexpr TableColumn kSelector{
    .name = "Selector", .description = "Labels of the pods that it manages", .priority = 1};

std::string name(const json::value& object);
std::string age(const json::value& object, WallTime now);
std::string text(const json::value& object, kube::TextPath path, std::string_view fallback = "");
std::int64_t number(const json::value& object, kube::IntPath path, std::int64_t fallback = 0);
// The elements or members at the path; empty if it is missing.
const json::array& list(const json::value& object, kube::ListPath path);
const json::object& members(const json::value& object, kube::MapPath path);
std::int64_t size(const json::value& object, CountPath path);

std::string join(const std::vector<std::string>& parts, std::string_view separator = ",");
// The first `shown` parts and the number of the others.
std::string join_some(const std::vector<std::string>& parts, std::size_t shown,
                      std::string_view separator = ",");
// "a=b,c=d", sorted; "<none>" if empty.
std::string labels(const json::value& object, kube::MapPath path);
// The same for a selector object with matchLabels and matchExpressions.
std::string selector(const json::value& object, kube::StructPath path);
// A quantity, number or string as text; "" if missing.
std::string scalar(const json::value& object, kube::AnyPath path);
std::string scalar(const json::value& object, kube::MapPath path, std::string_view key);

struct Containers {
  std::string names;
  std::string images;
};

Containers containers(const json::value& object, kube::StructPath pod_spec);

// The condition with this type, null if there is none.
const json::value* condition(const json::value& object, std::string_view type);
bool is_true(const json::value& object, std::string_view condition_type);

}  // namespace plim::local::apiserver::cells
