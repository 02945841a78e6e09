#include "local/apiserver/api/negotiation.hpp"

#include "base/text.hpp"

namespace plim::local::apiserver {
namespace {

bool is_json(const MediaType& media) {
  return media.type == "application/json" || media.type == "application/*" || media.type == "*/*";
}

ApiError not_acceptable() {
  return {
      .code = 406,
      .reason = "NotAcceptable",
      .message = "only the following media types are accepted: application/json, application/yaml",
      .details = ErrorDetails{}};
}

// False if we do not know this form of the object.
bool read_form(const MediaType& media, Format& out) {
  const std::string_view as = media.parameter("as");
  if (as.empty()) return true;
  const std::string_view version = media.parameter("v");
  if (media.parameter("g") != "meta.k8s.io" || (version != "v1" && version != "v1beta1"))
    return false;
  out.version = version;
  if (as == "Table") {
    out.shape = Format::Shape::table;
    return true;
  }
  out.shape = Format::Shape::metadata;
  return as == "PartialObjectMetadata" || as == "PartialObjectMetadataList";
}

}  // namespace

std::string_view MediaType::parameter(std::string_view name) const {
  for (const auto& [key, value] : parameters)
    if (key == name) return value;
  return {};
}

std::vector<MediaType> parse_media_types(std::string_view header) {
  std::vector<MediaType> out;
  for (std::string_view element : split(header, ',')) {
    MediaType media;
    for (std::string_view part : split(element, ';')) {
      part = trim(part);
      if (media.type.empty()) {
        media.type = to_lower(part);
        continue;
      }
      auto [name, value] = cut(part, '=');
      value = trim(value);
      if (value.size() >= 2 && value.front() == '"' && value.back() == '"')
        value = value.substr(1, value.size() - 2);
      media.parameters.emplace_back(to_lower(trim(name)), value);
    }
    if (!media.type.empty()) out.push_back(std::move(media));
  }
  return out;
}

ApiResult<Format> negotiate(std::string_view accept) {
  const auto wishes = parse_media_types(accept);
  if (wishes.empty()) return Format{};
  for (const MediaType& media : wishes) {
    Format out;
    out.yaml = media.type == "application/yaml";
    if ((is_json(media) || out.yaml) && read_form(media, out)) return out;
  }
  return not_acceptable();
}

ApiResult<std::string> negotiate_discovery(std::string_view accept) {
  const auto wishes = parse_media_types(accept);
  if (wishes.empty()) return std::string();
  for (const MediaType& media : wishes) {
    if (!is_json(media)) continue;
    const std::string_view as = media.parameter("as");
    if (as.empty()) return std::string();
    const std::string_view version = media.parameter("v");
    if (as == "APIGroupDiscoveryList" && media.parameter("g") == "apidiscovery.k8s.io" &&
        (version == "v2" || version == "v2beta1"))
      return std::string(version);
  }
  return not_acceptable();
}

}  // namespace plim::local::apiserver
