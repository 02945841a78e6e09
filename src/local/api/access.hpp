// Who asks, and may they?
#pragma once

#include "local/api/call.hpp"
#include "local/api/core.hpp"
#include "local/api/service_account_tokens.hpp"
#include "net/http.hpp"

namespace plim::local {

// By client certificate, the administrator's token or that of a service account; without
// credentials system:anonymous. 401 for credentials that are not ours.
class Authenticator {
 public:
  Authenticator(const ApiOptions& options, const ServiceAccountTokens& tokens)
      : admin_token_(options.admin_token), tokens_(tokens) {}

  ApiResult<User> authenticate(const net::Request& request) const;
  // For TokenReviews too.
  Result<User> user_of_token(std::string_view token) const;

 private:
  std::string admin_token_;
  const ServiceAccountTokens& tokens_;
};

// Every authenticated user may do everything. Anonymous users may only read health and version:
// `path` is given for requests that are not about a resource.
bool is_allowed(const User& user, std::string_view path = {});
// 403 in upstream's words.
ApiResult<void> authorize(const Call& call, std::string_view verb);
ApiResult<void> authorize_path(const User& user, std::string_view verb, std::string_view path);

}  // namespace plim::local
