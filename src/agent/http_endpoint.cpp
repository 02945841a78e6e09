#include "agent/http_endpoint.hpp"

#include <algorithm>

#include "base/exposition.hpp"
#include "net/loopback_hosts.hpp"

namespace plim::agent {
namespace {

constexpr net::Millis kDrain{500};

net::Reply plain(int status, std::string body) {
  net::Response out{.status = status, .headers = {}, .body = std::move(body)};
  out.headers.set("Content-Type", "text/plain; charset=utf-8");
  return out;
}

// Handlers are coroutines, so they have no captures: they get their data as parameters.
Task<net::Reply> metrics(std::shared_ptr<EndpointSource> source) {
  auto text = source->metrics();
  if (!text) co_return plain(503, "no iteration is complete yet\n");
  net::Response out{.status = 200, .headers = {}, .body = *text};
  out.headers.set("Content-Type", std::string(metrics::kContentType));
  co_return out;
}

Task<net::Reply> health(std::shared_ptr<EndpointSource> source) {
  co_return source->alive() ? plain(200, "ok\n") : plain(503, "the measurement loop is stuck\n");
}

Task<net::Reply> readiness(std::shared_ptr<EndpointSource> source) {
  const std::string why = source->not_ready();
  co_return why.empty() ? plain(200, "ok\n") : plain(503, why + "\n");
}

Task<net::Reply> state(std::shared_ptr<EndpointSource> source) {
  net::Response out{.status = 200, .headers = {}, .body = to_json(source->state()) + "\n"};
  out.headers.set("Content-Type", "application/json");
  co_return out;
}

using Answer = Task<net::Reply> (*)(std::shared_ptr<EndpointSource>);

net::Route route(std::string path, std::shared_ptr<EndpointSource> source, Answer answer) {
  return {.method = "GET",
          .pattern = std::move(path),
          .handler = [source = std::move(source), answer](const net::Request&) {
            return answer(source);
          }};
}

}  // namespace

Result<std::unique_ptr<net::Server>> serve_endpoint(Executor loop, const std::string& listen,
                                                    EndpointSource source) {
  auto shared = std::make_shared<EndpointSource>(std::move(source));
  std::vector<net::Route> routes{
      route("/metrics", shared, metrics), route("/healthz", shared, health),
      route("/readyz", shared, readiness), route("/state", shared, state)};
  // Anybody on the network may connect. No route takes a body, so each has its head at most.
  net::ServerOptions options{
      .address = listen, .max_connections = 200, .max_connections_per_peer = 50};
  return net::Server::listen({std::move(loop)}, std::move(options),
                             net::only_for_loopback_hosts(listen, std::move(routes)));
}

Task<Result<void>> Endpoints::open(std::vector<std::string> wanted) {
  // Close unwanted addresses first: 127.0.0.1:1 cannot be opened while 0.0.0.0:1 is open.
  for (auto at = servers_.begin(); at != servers_.end();) {
    if (std::ranges::find(wanted, at->first) != wanted.end()) {
      ++at;
      continue;
    }
    co_await at->second->drain(kDrain);
    at = servers_.erase(at);
  }
  for (const std::string& listen : wanted) {
    if (servers_.contains(listen)) continue;
    PLIM_CO_TRY(auto server, serve_endpoint(loop_, listen, make_(listen)));
    opened_(server->address());
    servers_.emplace(listen, std::move(server));
  }
  co_return Result<void>{};
}

Task<void> Endpoints::stop() {
  for (auto& [listen, server] : servers_) co_await server->drain(kDrain);
  servers_.clear();
}

}  // namespace plim::agent
