// Many watchers, a steady rate of writes: how long from sending a write to its event?
#include <charconv>

#include <fmt/format.h>

#include "base/clock.hpp"
#include "base/event.hpp"
#include "base/json.hpp"
#include "load.hpp"

namespace plim::bench {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kOpenAtOnce = 32;
constexpr auto kStragglers = 5s;
constexpr std::size_t kPodsForAll = 200;  // written in turn when everybody follows all of them
constexpr std::string_view kStamp = R"("written":")";

std::int64_t now_ns() {
  return std::chrono::duration_cast<Nanos>(system_clock().steady().time_since_epoch()).count();
}

class Fanout {
 public:
  Fanout(Executor loop, LoadOptions options)
      : loop_(std::move(loop)),
        options_(std::move(options)),
        pods_(options_.follow == "all" ? kPodsForAll : options_.watchers),
        opened_(loop_),
        group_(loop_) {}

  Task<Result<Numbers>> run() {
    auto out = co_await measure();
    co_await group_.stop();
    co_return out;
  }

 private:
  Task<Result<Numbers>> measure();
  Task<Result<void>> fill(std::vector<std::shared_ptr<kube::Client>> clients);
  Task<Result<void>> open_watches(std::string version);
  Task<void> follow(std::size_t index, std::string version);
  void note(std::string_view line);
  Numbers numbers(Burst& writes, Seconds cpu) const;

  net::Request write(std::size_t index) const {
    net::Request out = json_request(
        "PATCH", fmt::format("/api/v1/namespaces/{}/pods/{}", kNamespace, pod_name(index % pods_)),
        fmt::format(R"({{"metadata":{{"annotations":{{"written":"{}"}}}}}})", now_ns()));
    out.headers.set("Content-Type", "application/merge-patch+json");
    return out;
  }

  Executor loop_;
  LoadOptions options_;
  std::size_t pods_;
  std::shared_ptr<kube::Client> watching_;
  std::size_t open_ = 0, opening_ = 0, events_ = 0, broken_ = 0;
  bool measuring_ = false;
  std::optional<Error> failure_;
  std::vector<double> milliseconds_;
  Event opened_;
  TaskGroup group_;
};

Task<Result<void>> Fanout::fill(std::vector<std::shared_ptr<kube::Client>> clients) {
  std::shared_ptr<kube::Client> first = clients.front();
  PLIM_CO_CHECK(co_await make_namespace(*first));
  PLIM_CO_CHECK(co_await remove_pods(*first, options_.limit));
  auto make = [](std::size_t index) {
    return json_request("POST", fmt::format("/api/v1/namespaces/{}/pods", kNamespace),
                        pod_text({.name = pod_name(index), .node = node_name(index)}));
  };
  Burst burst(loop_, std::move(clients), make);
  co_return co_await burst.run(pods_);
}

Task<void> Fanout::follow(std::size_t index, std::string version) {
  kube::WatchOptions options;
  options.ns = kNamespace;
  options.resource_version = std::move(version);
  options.timeout = 3600s;
  if (options_.follow == "node")
    options.field_selector = fmt::format("spec.nodeName={}", node_name(index));
  auto watch = co_await watching_->watch(kube::resources::pods, std::move(options));
  --opening_;
  if (watch)
    ++open_;
  else if (!failure_)
    failure_ = watch.error().with_context("cannot watch");
  opened_.notify();
  while (watch) {
    auto line = co_await (*watch)->next();
    if (!line || !*line) break;
    note(**line);
  }
  ++broken_;
}

void Fanout::note(std::string_view line) {
  const std::int64_t now = now_ns();
  const std::size_t at = line.find(kStamp);
  if (at == line.npos || !measuring_) return;
  std::int64_t sent = 0;
  const char* digits = line.data() + at + kStamp.size();
  std::from_chars(digits, line.data() + line.size(), sent);
  if (sent == 0) return;
  ++events_;
  milliseconds_.push_back(static_cast<double>(now - sent) / 1e6);
}

Task<Result<void>> Fanout::open_watches(std::string version) {
  for (std::size_t i = 0; i < options_.watchers && !failure_; ++i) {
    ++opening_;
    group_.spawn("watch", follow(i, version));
    while (opening_ >= kOpenAtOnce) co_await opened_.wait();
  }
  while (opening_ > 0) co_await opened_.wait();
  if (failure_) co_return *failure_;
  co_return Result<void>();
}

Numbers Fanout::numbers(Burst& writes, Seconds cpu) const {
  std::vector<double> latencies = milliseconds_;
  Numbers out{{"watchers", static_cast<double>(open_)},
              {"writes_per_second",
               static_cast<double>(writes.milliseconds().size()) / writes.took().count()},
              {"write_p50_ms", quantile(writes.milliseconds(), 0.5)},
              {"write_p99_ms", quantile(writes.milliseconds(), 0.99)},
              {"events", static_cast<double>(events_)},
              {"events_per_second", static_cast<double>(events_) / writes.took().count()},
              {"event_p50_ms", quantile(latencies, 0.5)},
              {"event_p99_ms", quantile(latencies, 0.99)},
              {"event_max_ms", quantile(latencies, 1)},
              {"watches_broken", static_cast<double>(broken_)}};
  if (!options_.pids.empty()) {
    out.emplace_back("server_cores", cpu / writes.took());
    out.emplace_back("server_rss_mb", resident_megabytes(options_.pids));
  }
  return out;
}

Task<Result<Numbers>> Fanout::measure() {
  PLIM_CO_TRY(auto clients, connect(loop_, options_, options_.connections + 1));
  watching_ = clients.back();
  clients.pop_back();
  PLIM_CO_CHECK(co_await fill(clients));
  net::Request newest =
      json_request("GET", fmt::format("/api/v1/namespaces/{}/pods?limit=1", kNamespace), "");
  PLIM_CO_TRY(std::string body, co_await call(*watching_, std::move(newest)));
  PLIM_CO_TRY(json::value list, parse_json(body, "list of pods"));
  std::string version(text_at(list, {"metadata", "resourceVersion"}));
  PLIM_CO_CHECK(co_await open_watches(std::move(version)));

  measuring_ = true;
  const Seconds cpu = cpu_of_all(options_.pids);
  const auto count =
      static_cast<std::size_t>(options_.rate * static_cast<double>(options_.duration.count()));
  const std::size_t expected = options_.follow == "all" ? count * options_.watchers : count;
  Burst writes(loop_, clients, [this](std::size_t index) { return write(index); });
  PLIM_CO_CHECK(co_await writes.run_at(count, options_.rate));
  const SteadyTime end = system_clock().steady() + kStragglers;
  while (events_ < expected && system_clock().steady() < end) co_await system_clock().sleep(1ms);
  Numbers out = numbers(writes, cpu_of_all(options_.pids) - cpu);
  out.emplace_back("events_missing", static_cast<double>(expected - std::min(expected, events_)));
  co_await group_.stop();
  if (!options_.keep) PLIM_CO_CHECK(co_await remove_pods(*watching_, options_.limit));
  co_return out;
}

}  // namespace

Task<Result<Numbers>> load_fanout(Executor loop, LoadOptions options) {
  Fanout fanout(std::move(loop), std::move(options));
  co_return co_await fanout.run();
}

}  // namespace plim::bench
