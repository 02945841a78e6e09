#include "base/rfc3339.hpp"
#include "kube/fields_decode.hpp"

namespace plim::kube {
namespace {

bool owner(JsonReader& reader, Owner& out, std::string_view key, ondemand::value value) {
  if (key == "apiVersion") return reader.text(value, out.api_version);
  if (key == "kind") return reader.text(value, out.kind);
  if (key == "name") return reader.text(value, out.name);
  if (key == "uid") return reader.text(value, out.uid);
  if (key == "controller") return reader.flag(value, out.controller);
  if (key == "blockOwnerDeletion") return reader.flag(value, out.block_owner_deletion);
  return true;
}

}  // namespace

ondemand::parser& object_parser() {
  thread_local ondemand::parser parser;
  return parser;
}

ondemand::parser& list_parser() {
  thread_local ondemand::parser parser;
  return parser;
}

bool JsonReader::time(ondemand::value value, std::optional<WallTime>& out) {
  bool good = true;
  auto take = [&](std::string_view text) {
    auto time = parse_rfc3339(text);
    good = time.has_value();
    if (good) out = *time;
  };
  if (!string(value, take)) return false;
  return good || wrong("expected a time such as 2026-01-02T15:04:05Z");
}

bool JsonReader::raw(ondemand::value value, std::string_view& out) {
  char first = token(value).front();
  ondemand::object object;
  ondemand::array array;
  bool good = is_null(value);
  if (first == '{') good = !value.get_object().get(object) && !object.raw_json().get(out);
  if (first == '[') good = !value.get_array().get(array) && !array.raw_json().get(out);
  return good || wrong("expected an object or a list");
}

bool JsonReader::meta(ondemand::value value, ObjectMeta& out) {
  return object(value, [&](std::string_view key, ondemand::value v) {
    if (key == "name") return text(v, out.name);
    if (key == "namespace") return text(v, out.ns);
    if (key == "uid") return text(v, out.uid);
    if (key == "resourceVersion") return text(v, out.resource_version);
    if (key == "labels") return pairs(v, out.labels);
    if (key == "annotations") return pairs(v, out.annotations);
    if (key == "creationTimestamp") return time(v, out.created);
    if (key == "deletionTimestamp") return time(v, out.deleted);
    if (key == "generation") return integer(v, out.generation);
    if (key == "finalizers") {
      out.finalizers.clear();
      return list(v,
                  [&](ondemand::value item) { return text(item, out.finalizers.emplace_back()); });
    }
    if (key == "ownerReferences")
      return objects(v, out.owners, [&](Owner& made, std::string_view k, auto inner) {
        return owner(*this, made, k, inner);
      });
    return true;
  });
}

bool JsonReader::condition(Condition& out, std::string_view key, ondemand::value value) {
  if (key == "type") return text(value, out.type);
  if (key == "status") return text(value, out.status);
  if (key == "reason") return text(value, out.reason);
  if (key == "message") return text(value, out.message);
  if (key == "lastTransitionTime") return time(value, out.last_transition);
  return true;
}

Result<ObjectMeta> decode_meta(JsonText text, InternPool& pool) {
  JsonReader reader(&pool);
  ObjectMeta out;
  auto on_field = [&](std::string_view key, ondemand::value value) {
    return key != "metadata" || reader.meta(value, out);
  };
  PLIM_CHECK(reader.document(object_parser(), text, on_field));
  return out;
}

Codec<ObjectMeta> meta_codec(InternPool& pool) {
  return codec_of<ObjectMeta>([&pool](JsonText text) { return decode_meta(text, pool); });
}

}  // namespace plim::kube
