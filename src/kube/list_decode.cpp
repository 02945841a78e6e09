#include "kube/lists_decode.hpp"

namespace plim::kube {
namespace {

constexpr std::string_view kInitialEventsEnd = "k8s.io/initial-events-end";

std::optional<WatchEvent::Type> event_type(std::string_view text) {
  using Type = WatchEvent::Type;
  if (text == "ADDED") return Type::added;
  if (text == "MODIFIED") return Type::modified;
  if (text == "DELETED") return Type::deleted;
  if (text == "BOOKMARK") return Type::bookmark;
  if (text == "ERROR") return Type::error;
  return std::nullopt;
}

// Reads fields of a Status without type errors: other kinds use these names for other values.
struct StatusFields {
  std::int64_t http = 0;
  std::string reason, message;
  std::int64_t retry_after = 0;

  Error to_error() const {
    Error out = fail(code_from_reason(reason, static_cast<int>(http)),
                     message.empty() ? "the server ended the watch" : message);
    if (retry_after > 0) out.retry_after = std::chrono::seconds(retry_after);
    return out;
  }
};

bool read_status_field(JsonReader& reader, StatusFields& out, std::string_view key) {
  if (key == "code") out.http = reader.next_integer().value_or(out.http);
  if (reader.first() != '"') return true;
  if (key == "reason") return reader.text(out.reason);
  if (key == "message") return reader.text(out.message);
  return true;
}

}  // namespace

Result<ListMeta> decode_list(JsonText list, const VisitText& visit) {
  ListReader reader(nullptr);
  return reader.list_document(list, [&] {
    std::string_view item;
    return reader.raw(item) && reader.hand_over(visit, list.slice(item));
  });
}

Result<WatchEvent> decode_watch_event(JsonText text) {
  JsonReader reader(nullptr);
  WatchEvent out;
  StatusFields status;
  bool has_object = false;
  std::string type, initial_end;
  auto on_annotation = [&](std::string_view key) {
    return key != kInitialEventsEnd || reader.text(initial_end);
  };
  auto on_meta = [&](std::string_view key) {
    if (key == "resourceVersion") return reader.text(out.resource_version);
    if (key == "annotations") return reader.object(on_annotation);
    return true;
  };
  auto on_object = [&](std::string_view key) {
    if (key == "metadata") return reader.object(on_meta);
    return read_status_field(reader, status, key);
  };
  auto on_field = [&](std::string_view key) {
    if (key == "type") return reader.text(type);
    if (key != "object") return true;
    has_object = true;
    return reader.spanned_object(out.object, on_object);
  };
  PLIM_CHECK(reader.document(object_tokens(), text, on_field));
  auto known = event_type(type);
  if (!known)
    return fail(Code::invalid,
                fmt::format("type: expected ADDED, MODIFIED, DELETED, BOOKMARK or ERROR, found "
                            "\"{}\"",
                            type));
  if (!has_object) return fail(Code::invalid, "object: missing");
  out.type = *known;
  out.initial_events_end = out.type == WatchEvent::Type::bookmark && initial_end == "true";
  if (out.type == WatchEvent::Type::error) out.error = status.to_error();
  return out;
}

}  // namespace plim::kube
