#include "local/controllers/owned_object.hpp"

#include "base/rfc3339.hpp"
#include "base/text.hpp"

namespace plim::local::controllers {
namespace kinds {

const kube::Resource endpoint_slices{"discovery.k8s.io", "v1", "endpointslices", "EndpointSlice"};
const kube::Resource controller_revisions{"apps", "v1", "controllerrevisions",
                                          "ControllerRevision"};
const kube::Resource pod_disruption_budgets{"policy", "v1", "poddisruptionbudgets",
                                            "PodDisruptionBudget"};

}  // namespace kinds

kube::Codec<Object> object_codec(kube::InternPool& pool) {
  return kube::codec_of<Object>([&pool](kube::JsonText text) -> Result<Object> {
    Object out;
    PLIM_TRY(out.meta, kube::decode_meta(text, pool));
    PLIM_TRY(out.json, parse_json(text.view()));
    return out;
  });
}

const kube::Owner* controller_of(const kube::ObjectMeta& meta) {
  for (const kube::Owner& owner : meta.owners)
    if (owner.controller) return &owner;
  return nullptr;
}

std::optional<std::string_view> annotation_of(const kube::ObjectMeta& meta, std::string_view key) {
  for (const auto& [name, value] : meta.annotations)
    if (name == key) return std::string_view(value);
  return std::nullopt;
}

bool has_finalizer(const kube::ObjectMeta& meta, std::string_view finalizer) {
  for (const kube::Interned& one : meta.finalizers)
    if (one == finalizer) return true;
  return false;
}

TextPairs text_pairs(const json::value* map) {
  TextPairs out;
  if (!map || !map->is_object()) return out;
  for (const auto& [key, value] : map->get_object())
    if (value.is_string()) out.emplace_back(key, std::string_view(value.get_string()));
  return out;
}

void set_or_omit(json::object& object, kube::IntPath path, std::int64_t value) {
  if (value == 0) {
    object.erase(path.key());
  } else {
    object[path.key()] = value;
  }
}

void set_or_omit(json::object& object, kube::ListPath path, json::array value) {
  if (value.empty()) {
    object.erase(path.key());
  } else {
    object[path.key()] = std::move(value);
  }
}

void set_or_omit(json::object& object, kube::TextPath path, std::string_view value) {
  if (value.empty()) {
    object.erase(path.key());
  } else {
    object[path.key()] = value;
  }
}

std::optional<std::int64_t> int_or_percent(const json::value* value, std::int64_t total,
                                           Round round) {
  if (!value) return std::nullopt;
  if (value->is_int64()) return value->get_int64();
  if (value->is_uint64()) return static_cast<std::int64_t>(value->get_uint64());
  if (!value->is_string()) return std::nullopt;
  std::string_view text = value->get_string();
  if (!text.ends_with('%')) return std::nullopt;
  auto percent = parse_int<std::int64_t>(text.substr(0, text.size() - 1));
  if (!percent || *percent < 0 || *percent > 1'000'000) return std::nullopt;
  const std::int64_t product = *percent * total;
  return round == Round::up ? (product + 99) / 100 : product / 100;
}

std::optional<WallTime> time_at(const json::value& value, kube::TimePath path) {
  auto time = parse_rfc3339(kube::text_at(value, path));
  if (!time) return std::nullopt;
  return *time;
}

Parent::Parent(const kube::Resource& kind, const kube::ObjectMeta& meta)
    : resource(kind),
      ns(meta.ns.view()),
      name(meta.name),
      uid(meta.uid),
      resource_version(meta.resource_version) {}

kube::OwnerReference Parent::controller_reference() const {
  return {.api_version = kube::api_version(resource),
          .kind = resource.kind,
          .name = name,
          .uid = uid,
          .controller = true,
          .block_owner_deletion = true};
}

kube::ObjectPath Parent::path(std::string_view subresource) const {
  return {.ns = ns, .name = name, .subresource = std::string(subresource)};
}

}  // namespace plim::local::controllers
