#include "kube/fields_decode.hpp"

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

// What a Status says, read without complaint: other kinds use these names for other things.
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

void read_status_field(std::string_view key, ondemand::value value, StatusFields& out) {
  std::string_view text;
  std::int64_t number = 0;
  if (key == "code" && !value.get_int64().get(number)) out.http = number;
  if (key == "reason" && !value.get_string().get(text)) out.reason = text;
  if (key == "message" && !value.get_string().get(text)) out.message = text;
}

}  // namespace

Result<ListMeta> decode_list(JsonText list, const Visit<JsonText>& visit) {
  JsonReader reader(nullptr);
  return reader.list_document(list, [&](ondemand::value value) {
    std::string_view item;
    return reader.raw(value, item) && reader.hand_over(visit, list.slice(item));
  });
}

Result<WatchEvent> decode_watch_event(JsonText text) {
  JsonReader reader(nullptr);
  WatchEvent out;
  StatusFields status;
  bool has_object = false;
  std::string type, initial_end;
  auto on_annotation = [&](std::string_view key, ondemand::value value) {
    return key != kInitialEventsEnd || reader.text(value, initial_end);
  };
  auto on_meta = [&](std::string_view key, ondemand::value value) {
    if (key == "resourceVersion") return reader.text(value, out.resource_version);
    if (key == "annotations") return reader.object(value, on_annotation);
    return true;
  };
  auto on_object = [&](std::string_view key, ondemand::value value) {
    if (key == "metadata") return reader.object(value, on_meta);
    read_status_field(key, value, status);
    return true;
  };
  auto on_field = [&](std::string_view key, ondemand::value value) {
    if (key == "type") return reader.text(value, type);
    if (key != "object") return true;
    has_object = true;
    return reader.spanned_object(value, out.object, on_object);
  };
  PLIM_CHECK(reader.document(object_parser(), text, on_field));
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
