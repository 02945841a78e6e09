#include "base/rfc3339.hpp"
#include "kube/fields_decode.hpp"

namespace plim::kube {
namespace {

bool owner(JsonReader& reader, Owner& out, std::string_view key) {
  if (key == "apiVersion") return reader.text(out.api_version);
  if (key == "kind") return reader.text(out.kind);
  if (key == "name") return reader.text(out.name);
  if (key == "uid") return reader.text(out.uid);
  if (key == "controller") return reader.flag(out.controller);
  if (key == "blockOwnerDeletion") return reader.flag(out.block_owner_deletion);
  return true;
}

}  // namespace

TokenIndex& object_tokens() {
  thread_local TokenIndex tokens;
  return tokens;
}

TokenIndex& list_tokens() {
  thread_local TokenIndex tokens;
  return tokens;
}

bool JsonReader::time(std::optional<WallTime>& out) {
  bool good = true;
  auto take = [&](std::string_view text) {
    auto time = parse_rfc3339(text);
    good = time.has_value();
    if (good) out = *time;
  };
  if (!string(take)) return false;
  return good || wrong("expected a time such as 2026-01-02T15:04:05Z");
}

bool JsonReader::meta(ObjectMeta& out) {
  return object([&](std::string_view key) {
    if (key == "name") return text(out.name);
    if (key == "namespace") return text(out.ns);
    if (key == "uid") return text(out.uid);
    if (key == "resourceVersion") return text(out.resource_version);
    if (key == "labels") return pairs(out.labels);
    if (key == "annotations") return pairs(out.annotations);
    if (key == "creationTimestamp") return time(out.created);
    if (key == "deletionTimestamp") return time(out.deleted);
    if (key == "generation") return integer(out.generation);
    if (key == "finalizers") {
      out.finalizers.clear();
      return items([&] { return text(out.finalizers.emplace_back()); });
    }
    if (key == "ownerReferences")
      return objects(out.owners,
                     [&](Owner& made, std::string_view k) { return owner(*this, made, k); });
    return true;
  });
}

bool JsonReader::condition(Condition& out, std::string_view key) {
  if (key == "type") return text(out.type);
  if (key == "status") return text(out.status);
  if (key == "reason") return text(out.reason);
  if (key == "message") return text(out.message);
  if (key == "lastTransitionTime") return time(out.last_transition);
  return true;
}

Result<ObjectMeta> decode_meta(JsonText text, InternPool& pool) {
  JsonReader reader(&pool);
  ObjectMeta out;
  auto on_field = [&](std::string_view key) { return key != "metadata" || reader.meta(out); };
  PLIM_CHECK(reader.document(object_tokens(), text, on_field));
  return out;
}

Codec<ObjectMeta> meta_codec(InternPool& pool) {
  return codec_of<ObjectMeta>([&pool](JsonText text) { return decode_meta(text, pool); });
}

}  // namespace plim::kube
