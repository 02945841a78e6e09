#include "local/apiserver/schema/member_order.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace plim::local::apiserver {

void order_members(const Type& type, json::object& object) {
  auto next = object.begin();
  for (const Field& field : type.fields)
    if (next != object.end() && next->key() == field.name) ++next;
  if (next == object.end()) return;
  json::object ordered(object.storage());
  ordered.reserve(object.size());
  for (const Field& field : type.fields)
    if (json::value* value = object.if_contains(field.name))
      ordered.emplace(field.name, std::move(*value));
  for (auto& member : object)
    if (type.find(member.key()) == nullptr)
      ordered.emplace(member.key(), std::move(member.value()));
  object = std::move(ordered);
}

void sort_map(json::object& map) {
  auto by_key = [](const auto& a, const auto& b) { return a.key() < b.key(); };
  if (std::is_sorted(map.begin(), map.end(), by_key)) return;
  std::vector<std::pair<std::string, json::value>> members;
  for (auto& member : map) members.emplace_back(member.key(), std::move(member.value()));
  std::sort(members.begin(), members.end(),
            [](const auto& a, const auto& b) { return a.first < b.first; });
  map.clear();
  for (auto& [key, value] : members) map.emplace(key, std::move(value));
}

}  // namespace plim::local::apiserver
