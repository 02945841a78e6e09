#include "local/apiserver/api/service_account_tokens.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/base64.hpp"
#include "base/text.hpp"
#include "kube/object.hpp"
#include "local/apiserver/api/object_bytes.hpp"
#include "net/x509.hpp"

namespace plim::local::apiserver {
namespace {

constexpr std::string_view kHeader = R"({"alg":"ES256","kid":"plimsoll"})";
constexpr std::size_t kMaxToken = 16u << 10;

// RFC 4648, section 5: no padding, and letters that need no escapes in URLs.
std::string base64url(std::string_view bytes) {
  std::string out = base64_encode(bytes);
  while (out.ends_with('=')) out.pop_back();
  std::ranges::replace(out, '+', '-');
  std::ranges::replace(out, '/', '_');
  return out;
}

Result<std::string> from_base64url(std::string_view text) {
  std::string padded(text);
  std::ranges::replace(padded, '-', '+');
  std::ranges::replace(padded, '_', '/');
  while (padded.size() % 4 != 0) padded += '=';
  return base64_decode(padded);
}

std::int64_t seconds(WallTime time) {
  return std::chrono::duration_cast<std::chrono::seconds>(time.time_since_epoch()).count();
}

Error refused(std::string_view why) {
  return fail(Code::unauthorized, fmt::format("the token is not valid: {}", why));
}

// Both in the order of `wanted`.
std::vector<std::string> common_audiences(const std::vector<std::string>& wanted,
                                          const std::vector<std::string>& of_token) {
  std::vector<std::string> out;
  for (const std::string& one : wanted)
    if (std::ranges::find(of_token, one) != of_token.end()) out.push_back(one);
  return out;
}

// As Go prints a list of strings.
std::string listed(const std::vector<std::string>& texts) {
  std::vector<std::string> quoted;
  for (const std::string& text : texts) quoted.push_back(quote(text));
  return fmt::format("[{}]", fmt::join(quoted, " "));
}

}  // namespace

Result<std::string> ServiceAccountTokens::issue(const TokenRequest& request) const {
  const WallTime now = core_.clock.wall();
  json::array audiences(request.audiences.begin(), request.audiences.end());
  if (audiences.empty()) audiences.emplace_back(issuer_);
  json::object about{{"namespace", request.ns},
                     {"serviceaccount", {{"name", request.account}, {"uid", request.account_uid}}}};
  if (!request.bound_kind.empty())
    about[to_lower(request.bound_kind)] =
        json::object{{"name", request.bound_name}, {"uid", request.bound_uid}};
  const json::object claims{
      {"aud", std::move(audiences)},
      {"exp", seconds(now + request.lifetime)},
      {"iat", seconds(now)},
      {"iss", issuer_},
      {"jti", make_uuid(core_.random)},
      {"kubernetes.io", std::move(about)},
      {"nbf", seconds(now)},
      {"sub", fmt::format("system:serviceaccount:{}:{}", request.ns, request.account)}};
  std::string token = base64url(kHeader) + "." + base64url(to_json(claims));
  PLIM_TRY(std::string signature, net::sign_sha256(key_pem_, token));
  return token + "." + base64url(signature);
}

bool ServiceAccountTokens::exists(std::string_view plural, std::string_view ns,
                                  std::string_view name, std::string_view uid) const {
  const KindPtr kind = core_.kinds.find("", "v1", plural);
  const store::EntryPtr entry = core_.store.get(kind->key(ns, name));
  return entry && kube::uid_of(decode_object(*entry->value)) == uid;
}

Result<TokenUser> ServiceAccountTokens::verify(std::string_view token,
                                               const std::vector<std::string>& audiences) const {
  const auto parts = split(token, '.');
  if (parts.size() != 3 || token.size() > kMaxToken) return refused("it is not a JSON Web Token");
  auto signature = from_base64url(parts[2]);
  const std::string_view signed_part = token.substr(0, parts[0].size() + 1 + parts[1].size());
  const auto good =
      signature ? net::verify_sha256(key_pem_, signed_part, *signature) : Result<bool>(false);
  if (!good || !*good) return refused("its signature is not ours");
  auto payload = from_base64url(parts[1]);
  auto claims = payload ? parse_json(*payload) : Result<json::value>(payload.error());
  if (!claims) return refused("its claims cannot be read");
  const std::int64_t now = seconds(core_.clock.wall());
  if (text_at(*claims, {"iss"}) != issuer_) return refused("it has another issuer");
  if (int_at(*claims, {"exp"}).value_or(0) <= now || int_at(*claims, {"nbf"}).value_or(0) > now)
    return refused("it has expired");

  const std::string_view ns = text_at(*claims, {"kubernetes.io", "namespace"});
  const std::string_view name = text_at(*claims, {"kubernetes.io", "serviceaccount", "name"});
  const std::string_view uid = text_at(*claims, {"kubernetes.io", "serviceaccount", "uid"});
  if (!exists("serviceaccounts", ns, name, uid)) return refused("its service account is gone");
  for (std::string_view bound : {"pod", "secret"}) {
    if (!find(*claims, {"kubernetes.io", bound})) continue;
    if (!exists(fmt::format("{}s", bound), ns, text_at(*claims, {"kubernetes.io", bound, "name"}),
                text_at(*claims, {"kubernetes.io", bound, "uid"})))
      return refused(fmt::format("its {} is gone", bound));
  }
  const std::vector<std::string> of_token = texts_at(*claims, {"aud"});
  std::vector<std::string> common = common_audiences(audiences, of_token);
  if (common.empty())
    return fail(Code::unauthorized,
                fmt::format("token audiences {} is invalid for the target audiences {}",
                            listed(of_token), listed(audiences)));
  User user{.name = fmt::format("system:serviceaccount:{}:{}", ns, name),
            .groups = {"system:serviceaccounts", fmt::format("system:serviceaccounts:{}", ns),
                       "system:authenticated"},
            .uid = std::string(uid)};
  return TokenUser{.user = std::move(user), .audiences = std::move(common)};
}

}  // namespace plim::local::apiserver
