// Questions about users, tokens and permissions: created, answered, never stored.
#pragma once

#include "local/api/access.hpp"
#include "local/api/call.hpp"
#include "net/server.hpp"

namespace plim::local {

bool is_review(const Kind& kind);
ApiResult<net::Reply> answer_review(const Authenticator& authenticator, Call& call);

}  // namespace plim::local
