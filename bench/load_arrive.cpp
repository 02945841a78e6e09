// Pods that come at a rate: how long until each has a node, by one watch and one clock.
#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "base/clock.hpp"
#include "base/event.hpp"
#include "base/json.hpp"
#include "load.hpp"
#include "sched_shapes.hpp"

namespace plim::bench {
namespace {

using namespace std::chrono_literals;

// The first pods do not count: with them everybody opens connections.
constexpr std::size_t kWarmUp = 100;

constexpr std::string_view kName = R"("name":")";
constexpr std::string_view kNode = R"("nodeName":")";  // in managedFields it is "f:nodeName":{}

class Arrivals {
 public:
  Arrivals(Executor loop, LoadOptions options)
      : loop_(std::move(loop)),
        options_(std::move(options)),
        times_(options_.pods + kWarmUp),
        all_bound_(loop_),
        group_(loop_) {}

  Task<Result<Numbers>> run() {
    auto out = co_await measure();
    co_await group_.stop();
    co_return out;
  }

 private:
  // From when the request leaves, not from its answer: a scheduler hears of the pod by its watch,
  // which may be earlier than the answer is here.
  struct Times {
    SteadyTime sent{}, seen{}, bound{};
  };

  Task<Result<Numbers>> measure();
  Task<Result<void>> open_watch(kube::Client& client);
  Task<void> follow();
  void note(std::string_view line);
  Task<void> bind(std::size_t index);
  Task<Result<void>> wait_for_all();
  net::Request make(std::size_t index);
  Numbers numbers(Seconds took) const;

  Executor loop_;
  LoadOptions options_;
  std::vector<Times> times_;
  std::size_t bound_ = 0;
  std::shared_ptr<kube::Client> binding_;
  std::unique_ptr<kube::Watch> watch_;
  std::optional<Error> failure_;
  Event all_bound_;
  TaskGroup group_;
};

net::Request Arrivals::make(std::size_t index) {
  net::Request out = json_request("POST", fmt::format("/api/v1/namespaces/{}/pods", kNamespace),
                                  waiting_pod_text(index, kSchedShapes[0]));
  times_[index].sent = system_clock().steady();
  return out;
}

Task<Result<void>> Arrivals::open_watch(kube::Client& client) {
  net::Request newest =
      json_request("GET", fmt::format("/api/v1/namespaces/{}/pods?limit=1", kNamespace), "");
  PLIM_CO_TRY(std::string body, co_await call(client, std::move(newest)));
  PLIM_CO_TRY(json::value list, parse_json(body, "list of pods"));
  kube::WatchOptions options;
  options.ns = kNamespace;
  options.resource_version = text_at(list, {"metadata", "resourceVersion"});
  options.timeout = 3600s;
  PLIM_CO_TRY(watch_, co_await client.watch(kube::resources::pods, std::move(options)));
  co_return Result<void>();
}

Task<void> Arrivals::follow() {
  for (;;) {
    auto line = co_await watch_->next();
    if (!line)
      failure_ = line.error().with_context("the watch");
    else if (!*line)
      failure_ = fail(Code::unavailable, "the server ended the watch");
    if (failure_) break;
    note(**line);
  }
  all_bound_.notify();
}

// Without decoding the pod, for this process shares its cores with those it measures.
void Arrivals::note(std::string_view line) {
  const SteadyTime now = system_clock().steady();
  const std::size_t at = line.find(kName);  // of metadata, in which a name is the first member
  if (at == line.npos) return;
  std::string_view name = line.substr(at + kName.size());
  name = name.substr(0, name.find('"'));
  std::size_t index = times_.size();
  const std::size_t digits = name.rfind('-') + 1;
  std::from_chars(name.data() + digits, name.data() + name.size(), index);
  if (index >= times_.size() || times_[index].bound != SteadyTime{}) return;
  Times& times = times_[index];
  const bool has_node = line.find(kNode) != line.npos;
  if (times.seen == SteadyTime{}) {
    times.seen = now;
    if (options_.bind && !has_node) group_.spawn("bind", bind(index));
  }
  if (!has_node) return;
  times.bound = now;
  if (++bound_ == times_.size()) all_bound_.notify();
}

Task<void> Arrivals::bind(std::size_t index) {
  net::Request request = binding_request(index, options_.nodes);
  auto bound = co_await call(*binding_, std::move(request));
  if (bound || failure_) co_return;
  failure_ = bound.error();
  all_bound_.notify();
}

Task<Result<void>> Arrivals::wait_for_all() {
  const SteadyTime end = system_clock().steady() + options_.limit;
  while (!failure_ && bound_ < times_.size())
    if (!co_await all_bound_.wait_until(system_clock(), end))
      co_return fail(Code::timeout,
                     fmt::format("only {} of {} pods have a node", bound_, times_.size()));
  if (failure_) co_return *failure_;
  co_return Result<void>();
}

Numbers Arrivals::numbers(Seconds took) const {
  std::vector<double> bound, seen, placed;
  const auto milliseconds = [](SteadyTime from, SteadyTime to) {
    return 1e3 * Seconds(to - from).count();
  };
  for (std::size_t i = kWarmUp; i < times_.size(); ++i) {
    bound.push_back(milliseconds(times_[i].sent, times_[i].bound));
    seen.push_back(milliseconds(times_[i].sent, times_[i].seen));
    placed.push_back(milliseconds(times_[i].seen, times_[i].bound));
  }
  return {{"pods", static_cast<double>(options_.pods)},
          {"per_second", static_cast<double>(times_.size()) / took.count()},
          {"bound_p50_ms", quantile(bound, 0.5)},
          {"bound_p90_ms", quantile(bound, 0.9)},
          {"bound_p99_ms", quantile(bound, 0.99)},
          {"bound_max_ms", quantile(bound, 1)},
          {"seen_p50_ms", quantile(seen, 0.5)},
          {"seen_p99_ms", quantile(seen, 0.99)},
          {"seen_to_bound_p50_ms", quantile(placed, 0.5)},
          {"seen_to_bound_p99_ms", quantile(placed, 0.99)}};
}

Task<Result<Numbers>> Arrivals::measure() {
  PLIM_CO_TRY(auto clients, connect(loop_, options_, options_.connections + 2));
  binding_ = clients.back();
  clients.pop_back();
  std::shared_ptr<kube::Client> watching = clients.back();
  clients.pop_back();
  PLIM_CO_CHECK(co_await remove_pods(*watching, options_.limit));
  PLIM_CO_CHECK(co_await open_watch(*watching));
  group_.spawn("watch", follow());
  Burst pods(loop_, std::move(clients), [this](std::size_t index) { return make(index); });
  PLIM_CO_CHECK(co_await pods.run_at(times_.size(), options_.rate));
  PLIM_CO_CHECK(co_await wait_for_all());
  co_return numbers(pods.took());
}

}  // namespace

Task<Result<Numbers>> load_arrive(Executor loop, LoadOptions options) {
  Arrivals arrivals(std::move(loop), std::move(options));
  co_return co_await arrivals.run();
}

}  // namespace plim::bench
