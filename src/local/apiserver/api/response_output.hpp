// Answers in the form the client asked for: whole objects, tables, or metadata alone.
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
// With the warnings of the call, and as YAML if that was asked for.
net::Reply text_reply(const Call& call, int status, std::string body);
// Each once, also to a client that is refused.
void add_warnings(const Call& call, net::Headers& headers);

// `bytes` as stored.
net::Reply object_reply(const Call& call, int status, const Kind& kind, std::string_view bytes,
                        WallTime now);
net::Reply list_reply(const Call& call, const ListResult& list, WallTime now);
// Null: whole objects.
std::unique_ptr<WatchFormat> watch_format(const Core& core, const CallPtr& call);

}  // namespace plim::local::apiserver
