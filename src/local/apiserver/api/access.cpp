#include "local/apiserver/api/access.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.hpp"
#include "local/apiserver/api/plain.hpp"

namespace plim::local::apiserver {
namespace {

constexpr std::string_view kAnonymous = "system:anonymous";

// Takes equally long for wrong and right tokens.
bool equal_in_constant_time(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  unsigned char difference = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    difference = static_cast<unsigned char>(difference | (a[i] ^ b[i]));
  return difference == 0;
}

ApiError unauthorized() {
  return {.code = 401, .reason = "Unauthorized", .message = "Unauthorized"};
}

}  // namespace

Result<TokenUser> Authenticator::review_token(std::string_view token,
                                              std::vector<std::string> audiences) const {
  if (audiences.empty()) audiences.push_back(tokens_.issuer());
  if (admin_token_.empty() || !equal_in_constant_time(token, admin_token_))
    return tokens_.verify(token, audiences);
  // The administrator's token names no audience: it is for this API server alone.
  if (std::ranges::find(audiences, tokens_.issuer()) == audiences.end())
    return fail(Code::unauthorized, "the token is not valid for the target audiences");
  return TokenUser{
      .user = {.name = "kubernetes-admin", .groups = {"system:masters", "system:authenticated"}},
      .audiences = {tokens_.issuer()}};
}

ApiResult<User> Authenticator::authenticate(const net::Request& request) const {
  if (!request.peer.certificate_user.empty()) {
    User out{.name = request.peer.certificate_user, .groups = request.peer.certificate_groups};
    out.groups.emplace_back("system:authenticated");
    return out;
  }
  if (!request.headers.has("Authorization"))
    return User{.name = std::string(kAnonymous), .groups = {"system:unauthenticated"}};
  auto reviewed = review_token(net::bearer_token(request.headers), {});
  if (!reviewed) return unauthorized();
  return std::move(reviewed->user);
}

bool is_allowed(const User& user, std::string_view path) {
  return user.name != kAnonymous || is_public_path(path);
}

ApiResult<void> authorize(const Call& call, std::string_view verb) {
  if (is_allowed(call.user)) return {};
  const ResourcePath& target = call.target;
  const std::string resource = target.subresource.empty()
                                   ? target.kind->plural
                                   : fmt::format("{}/{}", target.kind->plural, target.subresource);
  const std::string where = target.ns.empty() ? std::string(" at the cluster scope")
                                              : fmt::format(" in the namespace \"{}\"", target.ns);
  return forbidden(*target.kind, target.name,
                   fmt::format("User \"{}\" cannot {} resource \"{}\" in API group \"{}\"{}",
                               call.user.name, verb, resource, target.kind->group, where));
}

ApiResult<void> authorize_path(const User& user, std::string_view verb, std::string_view path) {
  if (is_allowed(user, path)) return {};
  return ApiError{
      .code = 403,
      .reason = "Forbidden",
      .message = fmt::format("forbidden: User \"{}\" cannot {} path \"{}\"", user.name, verb, path),
      .details = ErrorDetails{}};
}

}  // namespace plim::local::apiserver
