// All paths that are not below a resource: discovery, OpenAPI, health, version, metrics.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "local/apiserver/api/core.hpp"
#include "local/apiserver/api/error.hpp"
#include "net/http.hpp"

namespace plim::local::apiserver {

// Served without credentials, for probes.
bool is_public_path(std::string_view path);

// Belongs to the store's loop.
class PlainPaths {
 public:
  explicit PlainPaths(Core& core) : core_(core) {}

  ApiResult<net::Response> handle(const net::Request& request);

 private:
  ApiResult<net::Response> discovery(const net::Request& request,
                                     const std::vector<std::string>& path);
  ApiResult<net::Response> openapi(const net::Request& request,
                                   const std::vector<std::string>& path);
  // A document that changes only with the kinds: created once, with an ETag.
  template <class Make>
  net::Response document(const net::Request& request, const std::string& name,
                         std::string content_type, Make make);

  Core& core_;

  struct Document {
    std::string body, etag;
  };

  std::map<std::string, Document> documents_;
  std::uint64_t made_for_ = 0;  // version of the kinds
};

}  // namespace plim::local::apiserver
