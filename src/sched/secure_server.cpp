#include "sched/secure_server.hpp"

#include <chrono>

#include <fmt/format.h>

#include "base/exposition.hpp"
#include "base/files.hpp"
#include "base/text.hpp"
#include "net/x509.hpp"

namespace plim::sched {
namespace {

using namespace std::chrono_literals;

constexpr std::chrono::milliseconds kServerGrace{200};
constexpr std::size_t kMaxBody = 4 << 10;  // the only body is a number

net::Response plain_text(int status, std::string body) {
  net::Response out{.status = status, .headers = {}, .body = std::move(body)};
  out.headers.set("Content-Type", "text/plain; charset=utf-8");
  out.headers.set("X-Content-Type-Options", "nosniff");
  return out;
}

net::Response metrics_text(std::string body) {
  net::Response out{.status = 200, .headers = {}, .body = std::move(body)};
  out.headers.set("Content-Type", std::string(metrics::kContentType));
  return out;
}

}  // namespace

SecureServer::SecureServer(SecureServerOptions options, ReviewClients clients,
                           metrics::Registry& registry)
    : options_(std::move(options)),
      review_(std::move(clients), options_.review),
      registry_(registry) {}

Result<std::unique_ptr<SecureServer>> SecureServer::listen(const Executor& loop,
                                                           SecureServerOptions options,
                                                           ReviewClients clients,
                                                           metrics::Registry& registry) {
  std::unique_ptr<SecureServer> out(
      new SecureServer(std::move(options), std::move(clients), registry));
  net::ServerOptions server{.address = out->options_.address,
                            .tls = out->options_.tls,
                            .max_connections = 1'000,
                            .max_connections_per_peer = 200};
  SecureServer* self = out.get();
  net::Route all{.method = "*", .pattern = "*", .handler = [self](net::Request request) {
                   return self->answer(std::move(request));
                 }};
  all.options.max_body = kMaxBody;
  std::vector<net::Route> routes;
  routes.push_back(std::move(all));
  PLIM_TRY(out->server_, net::Server::listen({loop}, std::move(server), std::move(routes)));
  return out;
}

Task<void> SecureServer::drain() {
  return server_->drain(kServerGrace);
}

Task<net::Reply> SecureServer::answer(net::Request request) {
  const int status = co_await review_.check(request);
  net::Reply out;
  if (status == 200)
    out = serve(request);
  else
    out = plain_text(status, fmt::format("{}\n", net::status_text(status)));
  co_return out;
}

net::Response SecureServer::serve(const net::Request& request) {
  const std::string_view path = request.path;
  if (path == "/debug/flags/v") {
    if (request.method != "PUT") return plain_text(405, "set it by PUT\n");
    const auto level = parse_int<int>(trim(request.body));
    if (!level) return plain_text(400, "expected a number\n");
    options_.set_verbosity(*level);
    return plain_text(200, fmt::format("successfully set klog.logging.verbosity to {}\n", *level));
  }
  if (request.method != "GET" && request.method != "HEAD")
    return plain_text(405, "only GET is served here\n");
  for (const std::string_view place : {"/healthz", "/readyz", "/livez"})
    if (path == place || path.starts_with(fmt::format("{}/", place))) return health(request);
  if (path == "/metrics") {
    options_.before_metrics();
    return metrics_text(registry_.expose());
  }
  if (path == "/metrics/resources") return metrics_text(options_.pod_resources());
  if (path == "/metrics/slis") return metrics_text(health_metrics());
  if (path == "/configz") {
    net::Response out{.status = 200, .headers = {}, .body = options_.configuration()};
    out.headers.set("Content-Type", "application/json");
    return out;
  }
  if (path == "/plimsoll/v1/explain" && options_.explain) return options_.explain(request);
  return plain_text(404, "404 page not found\n");
}

net::Response SecureServer::health(const net::Request& request) const {
  const auto [place, one] = cut(std::string_view(request.path).substr(1), '/');
  const bool ready = place == "readyz", live = place == "livez";
  std::string text;
  bool good = true, known = one.empty() || one == "ping";
  if (one.empty()) text += "[+]ping ok\n";
  for (const HealthCheck& check : options_.checks) {
    if (live || (check.for_ready_only && !ready)) continue;
    if (!one.empty() && one != check.name) continue;
    known = true;
    const bool fine = check.good();
    good = good && fine;
    text += fmt::format("[{}]{} {}\n", fine ? '+' : '-', check.name,
                        fine ? "ok" : "failed: reason withheld");
  }
  if (!known) return plain_text(404, "404 page not found\n");
  if (!good) return plain_text(500, text + fmt::format("{} check failed\n", place));
  for (const auto& [name, value] : net::parse_query(request.query))
    if (name == "verbose") return plain_text(200, text + fmt::format("{} check passed\n", place));
  return plain_text(200, "ok");
}

std::string SecureServer::health_metrics() const {
  metrics::Exposition out;
  auto checks =
      out.family("kubernetes_healthcheck", "Whether a check passes now.", metrics::Type::gauge);
  for (const std::string type : {"healthz", "livez", "readyz"}) {
    checks.sample({{"name", "ping"}, {"type", type}}, 1);
    for (const HealthCheck& check : options_.checks)
      if (type == "readyz" || (type == "healthz" && !check.for_ready_only))
        checks.sample({{"name", check.name}, {"type", type}}, check.good() ? 1 : 0);
  }
  return out.text();
}

Result<net::ServerTls> self_signed_tls(const std::string& host) {
  const WallTime now = system_clock().wall();
  PLIM_TRY(const net::KeyPair authority,
           net::make_authority(fmt::format("{}-ca", host), now - 1h, now + 24h * 365));
  PLIM_TRY(const net::KeyPair pair,
           net::issue_certificate(authority, {.common_name = host,
                                              .dns_names = {host, "localhost"},
                                              .ip_addresses = {"127.0.0.1", "::1"},
                                              .server = true,
                                              .not_before = now - 1h,
                                              .not_after = now + 24h * 365}));
  return net::ServerTls{.certificate_pem = pair.certificate_pem + authority.certificate_pem,
                        .key_pem = pair.key_pem};
}

Result<net::ServerTls> kept_tls(const std::string& host, const std::string& directory) {
  const std::string base = directory + "/kube-scheduler";
  const auto certificate = read_file(base + ".crt"), key = read_file(base + ".key");
  const auto info = net::read_certificate(certificate.value_or(""));
  if (key && info && system_clock().wall() < info->not_after)
    return net::ServerTls{.certificate_pem = *certificate, .key_pem = *key};
  PLIM_TRY(net::ServerTls made, self_signed_tls(host));
  PLIM_CHECK(make_directories(directory));
  PLIM_CHECK(write_file(base + ".key", made.key_pem, {.mode = 0600}));
  PLIM_CHECK(write_file(base + ".crt", made.certificate_pem, {.mode = 0644}));
  return made;
}

}  // namespace plim::sched
