#include "local/apiserver/api/kinds.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.hpp"
#include "local/apiserver/api/kind_table.hpp"
#include "local/apiserver/schema/body_decode.hpp"

namespace plim::local::apiserver {

const Subresource* Kind::subresource(std::string_view name) const {
  auto found = std::ranges::find(subresources, name, &Subresource::name);
  return found == subresources.end() ? nullptr : &*found;
}

bool Kind::has_verb(std::string_view verb) const {
  return std::ranges::find(verbs, verb) != verbs.end();
}

std::string Kind::folder(std::string_view ns) const {
  return namespaced && !ns.empty() ? fmt::format("{}{}/", prefix, ns) : prefix;
}

std::string Kind::key(std::string_view ns, std::string_view name) const {
  return namespaced ? fmt::format("{}{}/{}", prefix, ns, name) : fmt::format("{}{}", prefix, name);
}

namespace {

json::value empty_status_of(const Type& type) {
  json::value object = json::object();
  FieldMistakes mistakes;
  if (!conform(type, object, mistakes)) return nullptr;
  const json::value* status = object.as_object().if_contains("status");
  return status ? *status : json::value();
}

}  // namespace

Kinds::Kinds() {
  for (Kind& kind : built_in_kinds()) {
    kind.type = find_type(kind.group, kind.version, kind.kind);
    if (kind.type && kind.has_status()) kind.empty_status = empty_status_of(*kind.type);
    add(std::move(kind));
  }
}

KindPtr Kinds::find(std::string_view group, std::string_view version,
                    std::string_view plural) const {
  auto found = by_path_.find(fmt::format("{}/{}/{}", group, version, plural));
  return found == by_path_.end() ? nullptr : found->second;
}

KindPtr Kinds::stored_kind(const KindPtr& kind) const {
  return kind->conversion ? find(kind->conversion->stored_group, kind->version, kind->plural)
                          : kind;
}

KindPtr Kinds::find_kind(std::string_view group, std::string_view kind) const {
  auto found = std::ranges::find_if(
      all_, [&](const KindPtr& one) { return one->group == group && one->kind == kind; });
  return found == all_.end() ? nullptr : *found;
}

bool Kinds::has_group_version(std::string_view group, std::string_view version) const {
  return std::ranges::any_of(
      all_, [&](const KindPtr& one) { return one->group == group && one->version == version; });
}

bool Kinds::has_group(std::string_view group) const {
  // Ignores custom resources: only their served versions are known.
  return std::ranges::any_of(
      all_, [&](const KindPtr& one) { return one->group == group && !one->rules; });
}

std::vector<Kinds::Group> Kinds::groups() const {
  std::vector<Group> out;
  for (const KindPtr& kind : all_) {
    auto group = std::ranges::find(out, kind->group, &Group::name);
    if (group == out.end()) group = out.insert(out.end(), Group{.name = kind->group});
    if (std::ranges::find(group->versions, kind->version) == group->versions.end())
      group->versions.push_back(kind->version);
  }
  return out;
}

std::vector<KindPtr> Kinds::of(std::string_view group, std::string_view version) const {
  std::vector<KindPtr> out;
  std::ranges::copy_if(all_, std::back_inserter(out), [&](const KindPtr& kind) {
    return kind->group == group && kind->version == version;
  });
  return out;
}

KindPtr Kinds::add(Kind kind) {
  if (kind.list_kind.empty()) kind.list_kind = kind.kind + "List";
  if (kind.singular.empty()) kind.singular = to_lower(kind.kind);
  kind.api_version =
      kind.group.empty() ? kind.version : fmt::format("{}/{}", kind.group, kind.version);
  kind.qualified = kind.group.empty() ? kind.plural : fmt::format("{}.{}", kind.plural, kind.group);
  if (kind.prefix.empty())
    kind.prefix =
        fmt::format("/registry/{}/{}/", kind.group.empty() ? "core" : kind.group, kind.plural);
  kind.head = fmt::format(R"({{"kind":"{}","apiVersion":"{}",)", kind.kind, kind.api_version);
  std::string path = fmt::format("{}/{}/{}", kind.group, kind.version, kind.plural);
  auto made = std::make_shared<const Kind>(std::move(kind));
  auto [place, is_new] = by_path_.insert_or_assign(std::move(path), made);
  if (is_new) {
    all_.push_back(made);
  } else {
    auto same = [&](const KindPtr& one) {
      return one->group == made->group && one->version == made->version &&
             one->plural == made->plural;
    };
    std::ranges::replace_if(all_, same, made);
  }
  ++version_;
  return made;
}

void Kinds::remove(std::string_view group, std::string_view plural) {
  auto gone = [&](const KindPtr& one) { return one->group == group && one->plural == plural; };
  std::erase_if(all_, gone);
  std::erase_if(by_path_, [&](const auto& entry) { return gone(entry.second); });
  ++version_;
}

}  // namespace plim::local::apiserver
