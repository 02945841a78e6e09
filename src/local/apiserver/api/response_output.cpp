#include "local/apiserver/api/response_output.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "base/yaml.hpp"
#include "local/apiserver/api/object_bytes.hpp"
#include "local/apiserver/api/table_output.hpp"

namespace plim::local::apiserver {
namespace {

std::string meta_version(const Format& format) {
  return "meta.k8s.io/" + format.version;
}

// Only the metadata, which every object has.
json::value metadata_of(std::string_view bytes, const Format& format) {
  json::value object = decode_object(bytes);
  return {{"kind", "PartialObjectMetadata"},
          {"apiVersion", meta_version(format)},
          {"metadata", std::move(object.as_object()["metadata"])}};
}

json::value metadata_list(const ListResult& list, const Format& format) {
  json::array items;
  for (const store::EntryPtr& entry : list.entries) {
    json::value item = metadata_of(*entry->value, format);
    item.as_object().erase("kind");
    item.as_object().erase("apiVersion");
    items.push_back(std::move(item));
  }
  return {{"kind", "PartialObjectMetadataList"},
          {"apiVersion", meta_version(format)},
          {"metadata", list_metadata(list)},
          {"items", std::move(items)}};
}

// Upstream drops texts that a header cannot contain.
bool is_sayable(std::string_view text) {
  return !text.empty() && std::ranges::none_of(text, [](char c) {
    return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
  });
}

std::string warning_header(std::string_view text) {
  std::string quoted;
  for (const char c : text) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return fmt::format("299 - \"{}\"", quoted);
}

class MetadataLines final : public WatchFormat {
 public:
  explicit MetadataLines(CallPtr call) : call_(std::move(call)) {}

  std::string added(const store::Entry& entry) override {
    return line_of(EventType::added, *entry.value);
  }

  net::Piece line(const store::ChangePtr& change, EventType type) override {
    return std::make_shared<const std::string>(
        line_of(type, object_of(call_->kind(), *change, type)));
  }

 private:
  std::string line_of(EventType type, std::string_view bytes) const {
    const json::object event{{"type", name_of(type)},
                             {"object", metadata_of(bytes, call_->format)}};
    return to_json(event) + "\n";
  }

  CallPtr call_;
};

}  // namespace

net::Reply json_reply(int status, std::string body) {
  net::Response out{.status = status, .body = std::move(body)};
  out.headers.set("Content-Type", "application/json");
  return out;
}

net::Reply text_reply(const Call& call, int status, std::string body) {
  net::Response out{.status = status};
  out.headers.set("Content-Type", call.format.yaml ? "application/yaml" : "application/json");
  out.body = call.format.yaml ? to_yaml(decode_object(body)) : std::move(body);
  add_warnings(call, out.headers);
  return out;
}

void add_warnings(const Call& call, net::Headers& headers) {
  std::set<std::string_view> said;
  if (const std::string& old = call.kind().deprecation; !old.empty())
    headers.add("Warning", warning_header(old));
  for (const std::string& warning : call.warnings)
    if (is_sayable(warning) && said.insert(warning).second)
      headers.add("Warning", warning_header(warning));
}

net::Reply object_reply(const Call& call, int status, const Kind& kind, std::string_view bytes,
                        WallTime now) {
  using Form = Format::Shape;
  std::string body;
  if (call.format.shape == Form::whole) {
    append_object(body, kind, bytes);
  } else if (call.format.shape == Form::metadata) {
    body = to_json(metadata_of(bytes, call.format));
  } else {
    TableWriter table(call, now);
    table.add(bytes);
    body = to_json(std::move(table).finish(json::object()));
  }
  return text_reply(call, status, std::move(body));
}

net::Reply list_reply(const Call& call, const ListResult& list, WallTime now) {
  using Form = Format::Shape;
  std::string body;
  if (call.format.shape == Form::whole) {
    body = encode_list(call.kind(), list);
  } else if (call.format.shape == Form::metadata) {
    body = to_json(metadata_list(list, call.format));
  } else {
    TableWriter table(call, now);
    for (const store::EntryPtr& entry : list.entries) table.add(*entry->value);
    body = to_json(std::move(table).finish(list_metadata(list)));
  }
  return text_reply(call, 200, std::move(body));
}

std::unique_ptr<WatchFormat> watch_format(const Core& core, const CallPtr& call) {
  using Form = Format::Shape;
  if (call->format.shape == Form::metadata) return std::make_unique<MetadataLines>(call);
  if (call->format.shape == Form::table) return make_table_lines(core.clock, call);
  return nullptr;
}

}  // namespace plim::local::apiserver
