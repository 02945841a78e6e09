// What becomes of a request whatever protocol it came by. For .cpp files of net only.
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

// What is forbidden although it parses, and what we do not speak. An absolute target becomes its
// path.
std::optional<Refusal> objection(Request& request);

// The answer to a request that could not be received; 0: none is due, the peer is gone.
int status_of_receiving(const Error& error, int too_large);

Response refusal(int status, std::string_view why);
// For a path no route has with this method: 404, or 405.
Response no_route(const Router& router, std::string_view path);
Response handler_failed();
Response handler_too_slow();

bool has_no_body(int status);
// For a client that accepts it: bodies of `from` bytes and more that are not compressed already.
void gzip_if_worth(Response& response, std::size_t from);

}  // namespace plim::net
