#include "local/apiserver/patch/field_set.hpp"

#include <fmt/format.h>

#include "base/text.hpp"

namespace plim::local::apiserver {
namespace {

bool is_path_element(std::string_view key) {
  return key.starts_with("f:") || key.starts_with("k:") || key.starts_with("v:") ||
         key.starts_with("i:");
}

std::string readable(std::string_view element) {
  const std::string_view rest = element.substr(2);
  if (element.starts_with("f:")) return fmt::format(".{}", rest);
  if (element.starts_with("v:")) return fmt::format("[={}]", rest);
  if (element.starts_with("i:")) return fmt::format("[{}]", rest);
  const auto keys = parse_json(rest);
  if (!keys || !keys->is_object()) return fmt::format("[{}]", rest);
  std::string out;
  for (const json::key_value_pair& key : keys->get_object())
    out += fmt::format("{}{}={}", out.empty() ? "" : ",", std::string_view(key.key()),
                       to_json(key.value()));
  return fmt::format("[{}]", out);
}

void collect(const FieldSet& set, const std::string& prefix, std::vector<std::string>& out) {
  for (const auto& [element, member] : set.members)
    if (member.owned) out.push_back(prefix + readable(element));
  for (const auto& [element, member] : set.members)
    if (!member.members.empty()) collect(member, prefix + readable(element), out);
}

}  // namespace

const FieldSet* FieldSet::find(std::string_view element) const {
  auto found = members.find(element);
  return found == members.end() ? nullptr : &found->second;
}

Result<FieldSet> parse_fields_v1(const json::value& fields) {
  const json::object* object = fields.if_object();
  if (!object) return fail(Code::bad_request, "a set of fields must be an object");
  FieldSet out;
  for (const json::key_value_pair& entry : *object) {
    const std::string_view key = entry.key();
    if (key == ".") {
      out.owned = true;
      continue;
    }
    if (!is_path_element(key))
      return fail(Code::bad_request, fmt::format("{} is not a path element", quote(key)));
    PLIM_TRY(FieldSet member, parse_fields_v1(entry.value()));
    if (member.members.empty()) member.owned = true;
    out.members.emplace(key, std::move(member));
  }
  return out;
}

json::object to_fields_v1(const FieldSet& set) {
  json::object out;
  if (set.owned && !set.members.empty()) out.emplace(".", json::object());
  for (const auto& [element, member] : set.members) out.emplace(element, to_fields_v1(member));
  return out;
}

FieldSet unite(FieldSet a, const FieldSet& b) {
  a.owned = a.owned || b.owned;
  for (const auto& [element, member] : b.members) {
    FieldSet& mine = a.members[element];
    mine = unite(std::move(mine), member);
  }
  return a;
}

FieldSet subtract(FieldSet a, const FieldSet& b) {
  a.owned = a.owned && !b.owned;
  for (auto entry = a.members.begin(); entry != a.members.end();) {
    if (const FieldSet* other = b.find(entry->first))
      entry->second = subtract(std::move(entry->second), *other);
    entry = entry->second.empty() ? a.members.erase(entry) : std::next(entry);
  }
  return a;
}

FieldSet intersect(FieldSet a, const FieldSet& b) {
  a.owned = a.owned && b.owned;
  for (auto entry = a.members.begin(); entry != a.members.end();) {
    const FieldSet* other = b.find(entry->first);
    entry->second = other ? intersect(std::move(entry->second), *other) : FieldSet();
    entry = entry->second.empty() ? a.members.erase(entry) : std::next(entry);
  }
  return a;
}

std::vector<std::string> paths_of(const FieldSet& set) {
  std::vector<std::string> out;
  collect(set, "", out);
  return out;
}

}  // namespace plim::local::apiserver
