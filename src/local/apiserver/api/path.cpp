#include "local/apiserver/api/path.hpp"

#include <algorithm>

#include "base/text.hpp"

namespace plim::local::apiserver {
namespace {

using Segments = std::vector<std::string>;

// Group and version before a resource, and what follows them.
struct GroupVersion {
  std::string group, version;
  std::size_t length;
};

std::optional<GroupVersion> group_version_of(const Segments& path) {
  if (path.size() > 2 && path[0] == "api") return GroupVersion{"", path[1], 2};
  if (path.size() > 3 && path[0] == "apis") return GroupVersion{path[1], path[2], 3};
  return std::nullopt;
}

bool is_namespace_subresource(std::string_view name) {
  return name == "status" || name == "finalize";
}

std::string join(const Segments& segments, std::size_t from) {
  std::string out;
  for (std::size_t i = from; i < segments.size(); ++i) out += "/" + segments[i];
  return out;
}

}  // namespace

Result<std::vector<std::string>> split_path(std::string_view path) {
  if (path.empty() || path.front() != '/') return fail(Code::bad_request, "the path lacks a slash");
  path.remove_prefix(1);
  if (path.ends_with('/')) path.remove_suffix(1);
  Segments out;
  if (path.empty()) return out;
  for (std::string_view part : split(path, '/')) {
    std::string segment = net::percent_decode(part);
    const bool bad = segment.empty() || segment == "." || segment == ".." ||
                     std::ranges::any_of(segment, [](char c) {
                       return c == '/' || static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
                     });
    if (bad) return fail(Code::bad_request, "the path has a segment that names nothing");
    out.push_back(std::move(segment));
  }
  return out;
}

ApiResult<std::optional<ResourcePath>> parse_resource_path(const Kinds& kinds,
                                                           std::string_view path) {
  PLIM_TRY(Segments segments, split_path(path));
  const auto front = group_version_of(segments);
  if (!front) return std::optional<ResourcePath>();
  if (!kinds.has_group_version(front->group, front->version)) {
    // In a served group, the resource does not exist; otherwise it is not a path of a resource.
    if (kinds.has_group(front->group)) return unknown_resource();
    return std::optional<ResourcePath>();
  }
  segments.erase(segments.begin(), segments.begin() + static_cast<std::ptrdiff_t>(front->length));
  ResourcePath out;
  if (segments.size() > 1 && segments[0] == "watch") {
    out.old_watch = true;
    segments.erase(segments.begin());
  }
  const bool inside_namespace =
      segments.size() > 2 && segments[0] == "namespaces" && !is_namespace_subresource(segments[2]);
  if (inside_namespace) {
    out.ns = segments[1];
    segments.erase(segments.begin(), segments.begin() + 2);
  }
  out.kind = kinds.find(front->group, front->version, segments[0]);
  if (!out.kind || (inside_namespace && !out.kind->namespaced)) return unknown_resource();
  if (segments.size() > 1) out.name = segments[1];
  if (segments.size() > 2) out.subresource = segments[2];
  if (out.kind->namespaced && !out.name.empty() && !inside_namespace) return unknown_resource();
  if (!out.subresource.empty() && !out.kind->subresource(out.subresource))
    return out.kind->rules ? not_found(*out.kind, out.name) : unknown_resource();
  if (segments.size() > 3) {
    if (out.subresource != "proxy") return unknown_resource();
    out.rest = join(segments, 3);
  }
  return std::optional(std::move(out));
}

}  // namespace plim::local::apiserver
