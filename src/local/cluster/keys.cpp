#include "local/cluster/keys.hpp"

#include <algorithm>
#include <functional>

#include <fmt/format.h>

#include "base/durable_directory.hpp"
#include "base/files.hpp"
#include "base/log.hpp"
#include "base/random.hpp"
#include "base/text.hpp"

namespace plim::local::cluster {
namespace {

using Days = std::chrono::days;
constexpr Days kAuthorityLife{3650}, kLife{365}, kRenewBefore{30};
// Certificates start a day early, so that they stay valid if the clock is set back a little.
constexpr Days kBackdate{1};
constexpr std::size_t kTokenBytes = 32;

// Tokens in the store, and certificates and tokens that users keep, are worth nothing without the
// keys that signed them.
constexpr WriteOptions kSigningKey{.mode = 0600, .sync = true};
// If these are lost in a power failure, the authority issues others. So the first start does not
// wait for the disk a dozen times.
constexpr WriteOptions kIssued{.mode = 0600, .sync = false};

bool is_address(std::string_view text) {
  return text.find(':') != text.npos ||
         text.find_first_not_of("0123456789.") == std::string_view::npos;
}

net::CertificateRequest server_request(const std::vector<std::string>& names, WallTime now) {
  net::CertificateRequest out{
      .common_name = "kube-apiserver",
      .dns_names = {"localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc",
                    "kubernetes.default.svc.cluster.local"},
      .ip_addresses = {"127.0.0.1", "::1"},
      .server = true,
      .not_before = now - kBackdate,
      .not_after = now + kLife};
  for (const std::string& name : names) {
    auto& list = is_address(name) ? out.ip_addresses : out.dns_names;
    if (std::ranges::find(list, name) == list.end()) list.push_back(name);
  }
  return out;
}

net::CertificateRequest scheduler_request(WallTime now) {
  return {.common_name = "kube-scheduler",
          .dns_names = {"localhost"},
          .ip_addresses = {"127.0.0.1"},
          .server = true,
          .not_before = now - kBackdate,
          .not_after = now + kLife};
}

net::CertificateRequest client_request(std::string_view user, std::vector<std::string> groups,
                                       WallTime now) {
  return {.common_name = std::string(user),
          .organizations = std::move(groups),
          .client = true,
          .not_before = now - kBackdate,
          .not_after = now + kLife};
}

bool has_all(const std::vector<std::string>& have, const std::vector<std::string>& wanted) {
  return std::ranges::all_of(
      wanted, [&](const std::string& one) { return std::ranges::find(have, one) != have.end(); });
}

bool is_fresh(const net::CertificateInfo& certificate, WallTime now) {
  return certificate.not_before <= now && now + kRenewBefore < certificate.not_after;
}

// The files of one directory: keeps the valid ones, replaces the others.
class Keeper {
 public:
  Keeper(std::string directory, WallTime now) : directory_(std::move(directory)), now_(now) {}

  Result<net::KeyPair> authority() {
    net::KeyPair found = read_pair("ca");
    auto info = net::read_certificate(found.certificate_pem);
    bool good =
        info && info->is_authority && is_fresh(*info, now_) &&
        net::verify_certificate(found.certificate_pem, found.key_pem, found.certificate_pem, now_);
    if (good) return found;
    PLIM_TRY(net::KeyPair made,
             net::make_authority("plimsoll", now_ - kBackdate, now_ + kAuthorityLife));
    PLIM_CHECK(write_pair("ca", made, kSigningKey));
    return made;
  }

  Result<net::KeyPair> pair(std::string_view name, const net::KeyPair& authority,
                            const net::CertificateRequest& request) {
    net::KeyPair found = read_pair(name);
    auto info = net::read_certificate(found.certificate_pem);
    bool good = info && is_fresh(*info, now_) && info->common_name == request.common_name &&
                has_all(info->dns_names, request.dns_names) &&
                has_all(info->ip_addresses, request.ip_addresses) &&
                net::verify_certificate(found.certificate_pem, found.key_pem,
                                        authority.certificate_pem, now_);
    if (good) return found;
    PLIM_TRY(net::KeyPair made, net::issue_certificate(authority, request));
    PLIM_CHECK(write_pair(name, made, kIssued));
    return made;
  }

  Result<std::string> text(std::string_view name, const std::function<bool(std::string_view)>& good,
                           const std::function<Result<std::string>()>& make) {
    std::string path = fmt::format("{}/{}", directory_, name);
    auto found = read_file(path);
    if (found && good(*found)) return found;
    PLIM_TRY(std::string made, make());
    PLIM_CHECK(write_file(path, made, kSigningKey));
    return made;
  }

 private:
  net::KeyPair read_pair(std::string_view name) const {
    return {.certificate_pem = read_file(path_of(name, "crt")).value_or(""),
            .key_pem = read_file(path_of(name, "key")).value_or("")};
  }

  Result<void> write_pair(std::string_view name, const net::KeyPair& pair,
                          const WriteOptions& options) const {
    PLIM_CHECK(write_file(path_of(name, "key"), pair.key_pem, options));
    return write_file(path_of(name, "crt"), pair.certificate_pem, options);
  }

  std::string path_of(std::string_view name, std::string_view ending) const {
    return fmt::format("{}/{}.{}", directory_, name, ending);
  }

  std::string directory_;
  WallTime now_;
};

bool is_token(std::string_view text) {
  return text.size() == 2 * kTokenBytes &&
         text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

}  // namespace

Result<ClusterKeys> keep_keys(const std::string& directory, const std::vector<std::string>& names,
                              WallTime now) {
  PLIM_CHECK(make_durable_directories(directory, 0700));
  Keeper keeper(directory, now);
  ClusterKeys out;
  PLIM_TRY(out.authority, keeper.authority());
  PLIM_TRY(out.server, keeper.pair("server", out.authority, server_request(names, now)));
  PLIM_TRY(out.admin, keeper.pair("admin", out.authority,
                                  client_request("plimsoll-admin", {"system:masters"}, now)));
  PLIM_TRY(out.scheduler, keeper.pair("scheduler", out.authority,
                                      client_request("system:kube-scheduler", {}, now)));
  PLIM_TRY(out.scheduler_server,
           keeper.pair("scheduler-server", out.authority, scheduler_request(now)));
  auto signs = [](std::string_view key) { return net::sign_sha256(key, "").has_value(); };
  PLIM_TRY(out.token_key, keeper.text("tokens.key", signs, net::make_signing_key));
  auto make = []() -> Result<std::string> { return make_token(kTokenBytes); };
  PLIM_TRY(out.admin_token, keeper.text("admin.token", is_token, make));
  return out;
}

Result<net::KeyPair> make_node_certificate(const net::KeyPair& authority, std::string_view node,
                                           std::string_view address, WallTime now) {
  net::CertificateRequest request =
      client_request(fmt::format("system:node:{}", node), {"system:nodes"}, now);
  request.server = true;
  request.dns_names = {std::string(node), "localhost"};
  request.ip_addresses = {std::string(address)};
  return net::issue_certificate(authority, request);
}

}  // namespace plim::local::cluster
