// Parses the path of a request.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "local/apiserver/api/error.hpp"
#include "local/apiserver/api/kinds.hpp"

namespace plim::local::apiserver {

// A collection if `name` is empty, else an object or one of its subresources.
struct ResourcePath {
  KindPtr kind = {};
  std::string ns = {};
  std::string name = {};
  std::string subresource = {};
  std::string rest = {};   // what follows a proxy subresource, with the slash
  bool old_watch = false;  // below /watch/, as old clients do
};

// The decoded segments of a path; ignores a trailing slash. Code::bad_request for empty segments,
// dots, and encoded slashes or control characters.
Result<std::vector<std::string>> split_path(std::string_view path);

// Nothing: not a path of a resource. An error: such a resource does not exist.
ApiResult<std::optional<ResourcePath>> parse_resource_path(const Kinds& kinds,
                                                           std::string_view path);

}  // namespace plim::local::apiserver
