// Merges an applied configuration into a live object, and removes what is no longer applied.
#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "local/apiserver/patch/value_type.hpp"

namespace plim::local::apiserver {
namespace {

using Kind = ValueType::Kind;

std::string key_of_element(const ValueType& type, const json::value& element) {
  auto key = type.path_element(element);
  return key ? std::move(*key) : std::string();
}

// Elements of both lists have the order of the configuration. Elements of the live list alone come
// as early as possible: before new elements, but after the shared element that they followed.
json::array merge_elements(const ValueType& type, json::array live,
                           const json::array& configuration) {
  std::vector<std::string> live_keys;
  std::map<std::string, std::size_t> places;
  for (const json::value& element : live) {
    live_keys.push_back(key_of_element(type, element));
    places.emplace(live_keys.back(), live_keys.size() - 1);
  }
  std::vector<std::string> wanted_keys;
  for (const json::value& element : configuration)
    wanted_keys.push_back(key_of_element(type, element));
  const std::set<std::string> wanted(wanted_keys.begin(), wanted_keys.end());

  json::array out;
  std::size_t next = 0;
  std::size_t shared = 0;  // index of the next element of the configuration that is also live
  for (std::size_t i = 0; i < configuration.size(); ++i) {
    shared = std::max(shared, i);
    while (shared < wanted_keys.size() && !places.contains(wanted_keys[shared])) ++shared;
    const std::string* until = shared < wanted_keys.size() ? &wanted_keys[shared] : nullptr;
    for (; next < live.size() && !(until && live_keys[next] == *until); ++next)
      if (!wanted.contains(live_keys[next])) out.push_back(std::move(live[next]));
    if (shared == i)
      out.push_back(
          merge_typed(type.element(), std::move(live[places[wanted_keys[i]]]), configuration[i]));
    else
      out.push_back(configuration[i]);
  }
  for (; next < live.size(); ++next)
    if (!wanted.contains(live_keys[next])) out.push_back(std::move(live[next]));
  return out;
}

// Parts that every object has stay, even if no manager owns a field in them.
bool is_part_of_every_object(std::string_view name) {
  return name == "metadata" || name == "spec" || name == "status";
}

bool is_empty(const json::value& value) {
  return (value.is_object() && value.get_object().empty()) ||
         (value.is_array() && value.get_array().empty());
}

class Pruner {
 public:
  void prune(const ValueType& type, json::value& value, const FieldSet& gone, const FieldSet& kept,
             bool top) {
    if (json::object* object = value.if_object())
      prune_members(type, *object, gone, kept, top);
    else if (json::array* array = value.if_array(); array && type.kind_for(value) != Kind::whole)
      prune_elements(type, *array, gone, kept);
  }

 private:
  void prune_members(const ValueType& type, json::object& object, const FieldSet& gone,
                     const FieldSet& kept, bool top) {
    for (const auto& [element, fields] : gone.members) {
      if (!element.starts_with("f:")) continue;
      const std::string_view name = std::string_view(element).substr(2);
      auto found = object.find(name);
      if (found == object.end()) continue;
      const FieldSet* keep = kept.find(element);
      const ValueType inner = type.member(name);
      const bool stays = (keep && !keep->empty()) || (top && is_part_of_every_object(name));
      const Kind kind = inner.kind_for(found->value());
      if (stays || (kind != Kind::whole && kind != Kind::object)) {
        prune(inner, found->value(), fields, keep ? *keep : nothing_, false);
        if (stays || !is_empty(found->value())) continue;
      }
      object.stable_erase(found);
    }
  }

  void prune_elements(const ValueType& type, json::array& array, const FieldSet& gone,
                      const FieldSet& kept) {
    json::array out;
    for (json::value& value : array) {
      const std::string key = key_of_element(type, value);
      const FieldSet* fields = gone.find(key);
      const FieldSet* keep = kept.find(key);
      const bool stays = keep && !keep->empty();
      if (fields && fields->owned && !stays) continue;
      if (fields) prune(type.element(), value, *fields, keep ? *keep : nothing_, false);
      out.push_back(std::move(value));
    }
    array = std::move(out);
  }

  const FieldSet nothing_;
};

}  // namespace

json::value merge_typed(const ValueType& type, json::value live, const json::value& configuration) {
  const Kind kind = type.kind_for(configuration);
  if (kind == Kind::whole || kind != type.kind_for(live)) return configuration;
  if (kind == Kind::set || kind == Kind::keyed)
    return merge_elements(type, std::move(live.get_array()), configuration.get_array());
  json::object& out = live.get_object();
  for (const json::key_value_pair& member : configuration.get_object()) {
    auto found = out.find(member.key());
    if (found == out.end())
      out.emplace(member.key(), member.value());
    else
      found->value() =
          merge_typed(type.member(member.key()), std::move(found->value()), member.value());
  }
  return live;
}

void prune_typed(const ValueType& type, json::value& value, const FieldSet& gone,
                 const FieldSet& kept) {
  Pruner().prune(type, value, gone, kept, true);
}

}  // namespace plim::local::apiserver
