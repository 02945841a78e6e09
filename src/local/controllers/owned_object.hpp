// An object of any kind, as the controllers cache it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json.hpp"
#include "kube/client.hpp"
#include "kube/decode.hpp"
#include "kube/object.hpp"
#include "kube/paths.hpp"
#include "kube/types.hpp"

namespace plim::local::controllers {

// Metadata for lookups; JSON to read other fields and to write back.
struct Object {
  kube::ObjectMeta meta;
  json::value json;
};

using ObjectPointer = std::shared_ptr<const Object>;
using PodPointer = std::shared_ptr<const kube::Pod>;
using NodePointer = std::shared_ptr<const kube::Node>;

kube::Codec<Object> object_codec(kube::InternPool& pool);

// Kinds that only controllers use; the others are in kube::resources.
namespace kinds {
extern const kube::Resource endpoint_slices, controller_revisions, pod_disruption_budgets;
}  // namespace kinds

// The controller among the owners, null if there is none.
const kube::Owner* controller_of(const kube::ObjectMeta& meta);
std::optional<std::string_view> annotation_of(const kube::ObjectMeta& meta, std::string_view key);
bool has_finalizer(const kube::ObjectMeta& meta, std::string_view finalizer);

// The pairs of a JSON map, for LabelSelector::matches; empty if it is not a map.
using TextPairs = std::vector<std::pair<std::string, std::string>>;
TextPairs text_pairs(const json::value* map);

// Omits zero and empty values, as Go's omitempty does. The last part of the path is the key.
void set_or_omit(json::object& object, kube::IntPath path, std::int64_t value);
void set_or_omit(json::object& object, kube::ListPath path, json::array value);
void set_or_omit(json::object& object, kube::TextPath path, std::string_view value);

// A number, or a percentage of `total` such as "25%". Nothing if it is neither.
enum class Round { up, down };
std::optional<std::int64_t> int_or_percent(const json::value* value, std::int64_t total,
                                           Round round);

std::optional<WallTime> time_at(const json::value& value, kube::TimePath path);

// A kind and one object of it: what events, owner references and paths need.
struct Parent {
  kube::Resource resource;
  std::string ns, name, uid, resource_version;

  Parent(const kube::Resource& kind, const kube::ObjectMeta& meta);

  kube::OwnerReference controller_reference() const;
  kube::ObjectPath path(std::string_view subresource = "") const;
};

}  // namespace plim::local::controllers
