// One request while the server handles it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "local/apiserver/api/api_server.hpp"
#include "local/apiserver/api/negotiation.hpp"
#include "local/apiserver/api/path.hpp"
#include "local/apiserver/api/query.hpp"
#include "net/http.hpp"

namespace plim::local::apiserver {

struct Call {
  User user = {};
  std::string method = {};
  ResourcePath target = {};
  Query query = {};
  std::string raw_query = {};
  net::Headers headers = {};
  std::string body = {};
  Format format = {};
  std::vector<std::string> warnings = {};  // sent as Warning headers

  const Kind& kind() const { return *target.kind; }
};

// Shared by the coroutines that handle one request, never by two requests.
using CallPtr = std::shared_ptr<Call>;

}  // namespace plim::local::apiserver
