// Responses in the form that the client requests: whole objects, tables, or metadata only.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "local/apiserver/api/call.hpp"
#include "local/apiserver/api/core.hpp"
#include "local/apiserver/api/reads.hpp"
#include "local/apiserver/api/watch_session.hpp"
#include "net/server.hpp"

namespace plim::local::apiserver {

net::Reply json_reply(int status, std::string body);
// Adds the warnings of the call; converts to YAML if requested.
net::Reply text_reply(const Call& call, int status, std::string body);
// Adds each warning once, also to error responses.
void add_warnings(const Call& call, net::Headers& headers);

// `bytes` as stored.
net::Reply object_reply(const Call& call, int status, const Kind& kind, std::string_view bytes,
                        WallTime now);
net::Reply list_reply(const Call& call, const ListResult& list, WallTime now);
// Null for whole objects.
std::unique_ptr<WatchFormat> watch_format(const Core& core, const CallPtr& call);

}  // namespace plim::local::apiserver
