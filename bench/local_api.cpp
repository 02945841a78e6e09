// The API server of the local cluster alone, over TLS, for profiles of it without nodes,
// controllers and roles around it.
//   local_api KUBECONFIG [fsync|os|none [DIRECTORY]]
// writes a kubeconfig for plimsoll-load and serves until it is ended.
#include <fmt/format.h>

#include "base/loop.hpp"
#include "base/process.hpp"
#include "base/signals.hpp"
#include "base/testing/temp_dir.hpp"
#include "child.hpp"
#include "local/apiserver/api/api_server.hpp"
#include "local/cluster/kubeconfig_file.hpp"
#include "net/server.hpp"

namespace plim::bench {
namespace {

net::KeyPair administrator(const Pki& pki) {
  net::CertificateRequest request;
  request.common_name = "admin";
  request.organizations = {"system:masters"};
  request.client = true;
  request.not_before = std::chrono::system_clock::now() - std::chrono::hours(1);
  request.not_after = request.not_before + std::chrono::hours(24);
  return net::issue_certificate(pki.authority, request).value();
}

Task<int> serve(Executor loop, std::string kubeconfig, local::store::StoreOptions store_options) {
  auto store = local::store::Store::open(loop, system_clock(), std::move(store_options)).value();
  auto api = local::apiserver::ApiServer::create(loop, system_clock(), *store).value();
  auto started = co_await api->start();
  PLIM_ASSERT(started);
  const Pki pki;
  net::ServerOptions options;
  options.tls = net::ServerTls{.certificate_pem = pki.server.certificate_pem,
                               .key_pem = pki.server.key_pem,
                               .client_ca_pem = pki.authority.certificate_pem};
  net::Route route{.method = "*", .pattern = "*"};
  route.handler = [&](net::Request request) { return api->handle(std::move(request)); };
  auto server = net::Server::listen({loop}, std::move(options), {route}).value();
  local::cluster::KubeconfigEntry entry{.name = "bench",
                                        .server = "https://" + server->address(),
                                        .ca_pem = pki.authority.certificate_pem,
                                        .client = administrator(pki)};
  std::ofstream(kubeconfig) << local::cluster::kubeconfig_text(entry);
  fmt::print("serving {} as process {}\n", entry.server, ::getpid());
  std::fflush(stdout);
  Signals signals(loop);
  co_await signals.stop_requested();
  co_await api->stop();
  co_await server->drain(std::chrono::seconds(1));
  server.reset();
  api.reset();
  co_await store->close();
  co_return 0;
}

}  // namespace
}  // namespace plim::bench

int main(int argc, char** argv) {
  using namespace plim;
  if (argc < 2) return 2;
  prepare_process();
  keep_memory_small();
  bench::raise_descriptor_limit();
  const testing::TempDir temporary;
  const std::string durability = argc > 2 ? argv[2] : "fsync";
  local::store::StoreOptions options;
  options.directory = argc > 3 ? argv[3] : temporary.path();
  options.durability = durability == "none" ? Durability::none
                       : durability == "os" ? Durability::os
                                            : Durability::fsync;
  Loop loop;
  return loop.run(bench::serve(loop.executor(), argv[1], options));
}
