// Authenticates and authorizes requests.
#pragma once

#include "local/apiserver/api/call.hpp"
#include "local/apiserver/api/core.hpp"
#include "local/apiserver/api/service_account_tokens.hpp"
#include "net/http.hpp"

namespace plim::local::apiserver {

// Accepts client certificates, the administrator's token and tokens of service accounts. Requests
// without credentials are system:anonymous. 401 for unknown credentials.
class Authenticator {
 public:
  Authenticator(const ApiOptions& options, const ServiceAccountTokens& tokens)
      : admin_token_(options.admin_token), tokens_(tokens) {}

  ApiResult<User> authenticate(const net::Request& request) const;
  // For a TokenReview. Without `audiences`, the token must be for this API server.
  Result<TokenUser> review_token(std::string_view token, std::vector<std::string> audiences) const;

 private:
  std::string admin_token_;
  const ServiceAccountTokens& tokens_;
};

// Every authenticated user may do everything. Anonymous users may only read health and version:
// `path` is given for requests that are not about a resource.
bool is_allowed(const User& user, std::string_view path = {});
// 403 with upstream's message.
ApiResult<void> authorize(const Call& call, std::string_view verb);
ApiResult<void> authorize_path(const User& user, std::string_view verb, std::string_view path);

}  // namespace plim::local::apiserver
