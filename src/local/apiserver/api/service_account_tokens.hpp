// The tokens of service accounts: JSON Web Tokens that we sign and verify.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.hpp"
#include "base/result.hpp"
#include "local/apiserver/api/api_server.hpp"
#include "local/apiserver/api/core.hpp"

namespace plim::local::apiserver {

struct TokenRequest {
  std::string ns;
  std::string account;
  std::string account_uid;
  std::vector<std::string> audiences = {};  // empty: the issuer
  Nanos lifetime = std::chrono::hours(1);
  // The token is valid only as long as this object exists; "" for none.
  std::string bound_kind = {};  // "Pod", "Secret"
  std::string bound_name = {};
  std::string bound_uid = {};
};

struct TokenUser {
  User user;
  std::vector<std::string> audiences;  // what was asked for and the token is for; never empty
};

// Belongs to the store's loop.
class ServiceAccountTokens {
 public:
  ServiceAccountTokens(const Core& core, std::string key_pem, std::string issuer)
      : core_(core), key_pem_(std::move(key_pem)), issuer_(std::move(issuer)) {}

  const std::string& issuer() const { return issuer_; }

  Result<std::string> issue(const TokenRequest& request) const;
  // The user of the token. Code::unauthorized if it is not ours, expired, for none of `audiences`,
  // or if the object it is bound to is gone.
  Result<TokenUser> verify(std::string_view token, const std::vector<std::string>& audiences) const;

 private:
  bool exists(std::string_view plural, std::string_view ns, std::string_view name,
              std::string_view uid) const;

  const Core& core_;
  std::string key_pem_;
  std::string issuer_;
};

}  // namespace plim::local::apiserver
