#include "local/apiserver/api/object_bytes.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/json_text.hpp"
#include "base/text.hpp"
#include "kube/paths.hpp"

namespace plim::local::apiserver {
namespace {

constexpr std::size_t kUsualSize = 4096;
constexpr std::string_view kVersionKey = R"("resourceVersion":")";

// Upstream's order; the other fields follow.
constexpr std::array<std::string_view, 7> kFirstInMetadata{
    "name",       "generateName",     "namespace", "uid", "resourceVersion",
    "generation", "creationTimestamp"};

void append_member(std::string& out, std::string_view key, const json::value& value) {
  if (out.back() != '{') out += ',';
  append_json_string(out, key);
  out += ':';
  append_json(out, value);
}

void append_metadata(std::string& out, const json::object& metadata, store::Revision revision) {
  out += R"("metadata":{)";
  for (std::string_view key : kFirstInMetadata) {
    if (key == "resourceVersion" && revision != 0)
      append_member(out, key, json::value(std::to_string(revision)));
    else if (const json::value* value = metadata.if_contains(key))
      append_member(out, key, *value);
  }
  for (const auto& [key, value] : metadata)
    if (std::ranges::find(kFirstInMetadata, std::string_view(key)) == kFirstInMetadata.end())
      append_member(out, key, value);
  out += '}';
}

// The object in the form of this kind; its resourceVersion is in the metadata.
std::string converted(const Kind& kind, std::string_view stored) {
  const json::value object = kind.conversion->to_served(decode_object(stored));
  const auto revision =
      parse_int<store::Revision>(kube::text_at(object, "Object.metadata.resourceVersion"));
  return encode_object(kind, object, revision.value_or(0));
}

}  // namespace

std::string encode_object(const Kind& kind, const json::value& object, store::Revision revision) {
  static const json::object kNoMetadata;
  const json::value* found = kube::find(object, "Object.metadata");
  const json::object* metadata = found ? found->if_object() : nullptr;
  std::string out;
  out.reserve(kUsualSize);
  out += kind.head;
  append_metadata(out, metadata ? *metadata : kNoMetadata, revision);
  for (const auto& [key, value] : object.as_object())
    if (key != "kind" && key != "apiVersion" && key != "metadata") append_member(out, key, value);
  out += '}';
  out.shrink_to_fit();
  return out;
}

std::string_view tail_of(std::string_view bytes) {
  const std::size_t start = bytes.find(R"("metadata":)");
  PLIM_ASSERT(start != bytes.npos);
  return bytes.substr(start);
}

void append_item(std::string& out, const Kind& kind, std::string_view bytes) {
  out += '{';
  if (kind.conversion)
    out += tail_of(converted(kind, bytes));
  else
    out += tail_of(bytes);
}

void append_object(std::string& out, const Kind& kind, std::string_view bytes) {
  if (kind.conversion) {
    out += converted(kind, bytes);
    return;
  }
  out += kind.head;
  out += tail_of(bytes);
}

void append_object_at(std::string& out, const Kind& kind, std::string_view bytes,
                      store::Revision revision) {
  const std::string other_form = kind.conversion ? converted(kind, bytes) : std::string();
  const std::string_view tail = tail_of(kind.conversion ? other_form : bytes);
  // In a string the quotes of this key would be escaped, so the first match is the field itself.
  const std::size_t start = tail.find(kVersionKey) + kVersionKey.size();
  const std::size_t end = tail.find('"', start);
  out += kind.head;
  out += tail.substr(0, start);
  fmt::format_to(std::back_inserter(out), "{}", revision);
  out += tail.substr(end);
}

json::value decode_object(std::string_view bytes) {
  auto parsed = parse_json(bytes, "stored object");
  PLIM_ASSERT(parsed);
  return std::move(*parsed);
}

}  // namespace plim::local::apiserver
