#include "cli/cluster_access.hpp"

#include <fmt/format.h>

#include "base/loop.hpp"
#include "net/url.hpp"

namespace plim::cli {
namespace {

Task<Result<net::Response>> ask_on_loop(kube::Config config, net::Request request,
                                        net::CallOptions options) {
  Executor loop = co_await current_loop();
  PLIM_CO_TRY(auto client, kube::Client::create(loop, std::move(config)));
  co_return co_await client->raw(std::move(request), options);
}

Task<Result<roles::ServerVersion>> ask_version(kube::Config config,
                                               std::chrono::milliseconds timeout) {
  Executor loop = co_await current_loop();
  PLIM_CO_TRY(auto client, kube::Client::create(loop, std::move(config)));
  co_return co_await roles::server_version(std::move(client), timeout);
}

}  // namespace

kube::ConfigOverrides overrides_of(const Values& values) {
  return {.kubeconfig = values.text("kubeconfig"),
          .context = values.text("context"),
          .cluster = values.text("cluster"),
          .user = values.text("user"),
          .server = values.text("server"),
          .ns = values.text("namespace")};
}

Outcome<kube::Config> cluster_config(const Context& context) {
  if (const std::string& server = context.values.text("server"); !server.empty())
    if (auto url = net::parse_url(server); !url)
      return usage_failure(Plm::bad_flag_value, "--server: " + url.error().message);
  auto config = kube::load_config(overrides_of(context.values), context.world.env);
  if (!config) return tl::unexpected(config_failure(config.error()));
  return std::move(*config);
}

Result<net::Response> ask(const kube::Config& config, net::Request request,
                          std::chrono::milliseconds timeout) {
  Loop loop;
  net::CallOptions options{.timeout = timeout};
  return run_to_end(loop, ask_on_loop(config, std::move(request), options));
}

Result<roles::ServerVersion> server_version(const kube::Config& config,
                                            std::chrono::milliseconds timeout) {
  Loop loop;
  return run_to_end(loop, ask_version(config, timeout));
}

std::string range_warning(const roles::ServerVersion& version) {
  if (version.major == 1 && version.minor >= kOldestMinor && version.minor <= kNewestMinor)
    return "";
  return fmt::format(
      "server {} is outside of the supported range 1.{} to 1.{}; some commands may fail",
      version.text, kOldestMinor, kNewestMinor);
}

}  // namespace plim::cli
