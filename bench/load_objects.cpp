// Pods written and listed.
#include <fmt/format.h>

#include "base/clock.hpp"
#include "load.hpp"

namespace plim::bench {
namespace {

net::Request create_request(std::size_t index) {
  return json_request("POST", fmt::format("/api/v1/namespaces/{}/pods", kNamespace),
                      pod_text({.name = pod_name(index)}));
}

struct ListKind {
  std::string_view name;
  std::string_view query;
};

constexpr ListKind kLists[] = {{"consistent", ""}, {"any_version", "?resourceVersion=0"}};

}  // namespace

Task<Result<Numbers>> load_create(Executor loop, LoadOptions options) {
  PLIM_CO_TRY(auto clients, connect(loop, options, options.connections));
  std::shared_ptr<kube::Client> first = clients.front();
  PLIM_CO_CHECK(co_await make_namespace(*first));
  PLIM_CO_CHECK(co_await remove_pods(*first, options.limit));
  const Seconds cpu = cpu_of_all(options.pids);
  Burst burst(loop, std::move(clients), create_request);
  PLIM_CO_CHECK(co_await burst.run(options.pods));
  const double cpu_used = (cpu_of_all(options.pids) - cpu).count();
  const auto count = static_cast<double>(options.pods);
  Numbers out{{"connections", static_cast<double>(options.connections)},
              {"pods", count},
              {"creates_per_second", count / burst.took().count()},
              {"create_p50_ms", quantile(burst.milliseconds(), 0.5)},
              {"create_p99_ms", quantile(burst.milliseconds(), 0.99)}};
  if (!options.pids.empty()) {
    out.emplace_back("server_cpu_us_per_create", 1e6 * cpu_used / count);
    out.emplace_back("server_rss_mb", resident_megabytes(options.pids));
  }
  if (!options.keep) PLIM_CO_CHECK(co_await remove_pods(*first, options.limit));
  co_return out;
}

Task<Result<Numbers>> load_list(Executor loop, LoadOptions options) {
  LoadOptions filling = options;
  filling.keep = true;
  PLIM_CO_TRY(Numbers filled, co_await load_create(loop, filling));
  PLIM_CO_TRY(auto clients, connect(loop, options, 1));
  std::shared_ptr<kube::Client> client = clients.front();
  Numbers out{{"pods", static_cast<double>(options.pods)}};
  for (const ListKind& kind : kLists) {
    std::vector<double> seconds;
    double bytes = 0;
    const Seconds cpu = cpu_of_all(options.pids);
    for (std::size_t round = 0; round < options.rounds; ++round) {
      net::Request request = json_request(
          "GET", fmt::format("/api/v1/namespaces/{}/pods{}", kNamespace, kind.query), "");
      if (options.gzip) request.headers.remove("Accept-Encoding");
      const SteadyTime sent = system_clock().steady();
      PLIM_CO_TRY(std::string body, co_await call(*client, std::move(request)));
      seconds.push_back(Seconds(system_clock().steady() - sent).count());
      bytes = static_cast<double>(body.size());
    }
    auto name = [&](std::string_view what) { return fmt::format("list_{}_{}", kind.name, what); };
    const double cpu_used = (cpu_of_all(options.pids) - cpu).count();
    out.emplace_back(name("mb"), bytes / 1e6);
    out.emplace_back(name("best_s"), quantile(seconds, 0));
    out.emplace_back(name("median_s"), quantile(seconds, 0.5));
    if (!options.pids.empty())
      out.emplace_back(name("server_cpu_s"), cpu_used / static_cast<double>(options.rounds));
  }
  if (!options.keep) PLIM_CO_CHECK(co_await remove_pods(*client, options.limit));
  co_return out;
}

}  // namespace plim::bench
