#include <string>

#include "base/json.hpp"
#include "kube/fields_decode.hpp"
#include "placement/selector_owners.hpp"

namespace plim::placement {
namespace {

// Services and ReplicationControllers have a plain map; without one they select nothing.
Result<kube::LabelSelector> plain_selector(const json::value& map) {
  if (!map.is_object() || map.get_object().empty()) return kube::LabelSelector::nothing();
  return kube::LabelSelector::from_json(json::object{{"matchLabels", map}});
}

Result<SelectingObject> decode_selecting(const std::string& kind, kube::JsonText text,
                                         kube::InternPool& pool) {
  SelectingObject out;
  std::string_view selector;
  kube::JsonReader reader(&pool);
  auto on_spec = [&](std::string_view key) { return key != "selector" || reader.raw(selector); };
  auto on_field = [&](std::string_view key) {
    if (key == "metadata") return reader.meta(out.meta);
    return key != "spec" || reader.object(on_spec);
  };
  PLIM_CHECK(reader.document(kube::object_tokens(), text, on_field));
  out.meta.labels.clear();
  out.meta.annotations.clear();
  json::value parsed;
  if (!selector.empty()) {
    PLIM_TRY(parsed, parse_json(selector));
  }
  const bool plain = kind == "Service" || kind == "ReplicationController";
  auto made = plain ? plain_selector(parsed) : kube::LabelSelector::from_json(parsed);
  out.owner = {.kind = kind,
               .ns = std::string(out.meta.ns),
               .name = out.meta.name,
               // The API server has validated it; an invalid one selects nothing.
               .selector = made ? std::move(*made) : kube::LabelSelector::nothing()};
  return out;
}

}  // namespace

kube::Codec<SelectingObject> selecting_codec(std::string kind, kube::InternPool& pool) {
  return kube::codec_of<SelectingObject>([kind = std::move(kind), &pool](kube::JsonText text) {
    return decode_selecting(kind, text, pool);
  });
}

}  // namespace plim::placement
