// Three lines as the path, the query and the Accept or Content-Type of a request: refused, or read
// as something that is read the same again.
#include <cstdint>
#include <string>
#include <string_view>

#include "base/text.hpp"
#include "local/apiserver/api/negotiation.hpp"
#include "local/apiserver/api/path.hpp"
#include "local/apiserver/api/query.hpp"
#include "net/http.hpp"

namespace {

using namespace plim;
using namespace plim::local::apiserver;

void check_path(std::string_view text) {
  static const Kinds kinds;
  const auto segments = split_path(text);
  const auto found = parse_resource_path(kinds, text);
  PLIM_ASSERT(segments || !found);
  if (!segments) return;
  std::string again;
  for (const std::string& segment : *segments) {
    PLIM_ASSERT(!segment.empty() && segment != "." && segment != "..");
    PLIM_ASSERT(segment.find('/') == segment.npos);
    again += "/" + net::percent_encode(segment);
  }
  const auto same = split_path(again.empty() ? "/" : again);
  PLIM_ASSERT(same && *same == *segments);
  if (!found || !*found) return;
  const ResourcePath& path = **found;
  PLIM_ASSERT(path.kind && (path.kind->namespaced || path.ns.empty()));
  PLIM_ASSERT(path.subresource.empty() || path.kind->subresource(path.subresource) != nullptr);
  PLIM_ASSERT(path.rest.empty() || path.subresource == "proxy");
}

void check_query(std::string_view text) {
  const Query query(text);
  for (std::string_view name : {"limit", "watch", "resourceVersion", ""}) {
    const auto all = query.all(name);
    PLIM_ASSERT(query.has(name) == !all.empty());
    PLIM_ASSERT(query.text(name) == (all.empty() ? std::string_view() : all.front()));
    PLIM_ASSERT(query.has(name) || !query.flag(name));
    const auto number = query.integer(name);
    if (number && *number) PLIM_ASSERT(parse_int<std::int64_t>(query.text(name)) == **number);
  }
}

void check_media_types(std::string_view text) {
  for (const MediaType& media : parse_media_types(text)) {
    PLIM_ASSERT(!media.type.empty() && to_lower(media.type) == media.type);
    for (const auto& [name, value] : media.parameters) (void)media.parameter(name);
  }
  if (const auto format = negotiate(text))
    PLIM_ASSERT(format->version == "v1" || format->version == "v1beta1");
  if (const auto version = negotiate_discovery(text))
    PLIM_ASSERT(version->empty() || *version == "v2" || *version == "v2beta1");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto [path, rest] = cut(text, '\n');
  const auto [query, media] = cut(rest, '\n');
  check_path(path);
  check_query(query);
  check_media_types(media);
  return 0;
}
