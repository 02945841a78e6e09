// Handles requests independent of the HTTP version. For .cpp files of net only.
#pragma once

#include <optional>
#include <string_view>

#include "base/result.hpp"
#include "net/http.hpp"
#include "net/router.hpp"

namespace plim::net {

struct Refusal {
  int status;
  const char* why;
};

// Rejects requests that parse but are not allowed or not supported. Turns an absolute target into
// its path.
std::optional<Refusal> objection(Request& request);

// The status for a request that could not be received; 0: no response, the peer is gone.
int status_of_receiving(const Error& error, int too_large);

Response refusal(int status, std::string_view why);
// For a path that has no route with this method: 404, or 405.
Response no_route(const Router& router, std::string_view path);
Response handler_failed();
Response handler_too_slow();

bool has_no_body(int status);
// Compresses bodies of at least `from` bytes that are not compressed already.
void gzip_if_worth(Response& response, std::size_t from);

}  // namespace plim::net
