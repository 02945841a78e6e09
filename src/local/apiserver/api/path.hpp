// What the path of a request names.
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
  std::string rest = {};   // what follows a proxy subresource, with its slash
  bool old_watch = false;  // below /watch/, which older clients use
};

// The decoded segments of a path; a slash at its end does not count. Code::bad_request for empty
// segments, dots, and slashes or control characters in disguise.
Result<std::vector<std::string>> split_path(std::string_view path);

// Nothing: the path is not one of a resource. An error: it is, but there is no such resource.
ApiResult<std::optional<ResourcePath>> parse_resource_path(const Kinds& kinds,
                                                           std::string_view path);

}  // namespace plim::local::apiserver
