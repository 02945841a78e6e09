// Reviews of users, tokens and permissions: answered at once and never stored.
#pragma once

#include "local/apiserver/api/access.hpp"
#include "local/apiserver/api/call.hpp"
#include "net/server.hpp"

namespace plim::local::apiserver {

bool is_review(const Kind& kind);
ApiResult<net::Reply> answer_review(const Authenticator& authenticator, Call& call);

}  // namespace plim::local::apiserver
