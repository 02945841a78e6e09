#include "servo/metrics.hpp"

namespace plim::servo {
namespace {

constexpr std::string_view kOther = "other";

std::string_view outcome_of(const loop::RunRecord& run) {
  if (run.result == loop::RunRecord::Result::deleted) return "deleted";
  return run.succeeded() ? "succeeded" : "failed";
}

}  // namespace

Metrics::Metrics(metrics::Registry& r)
    : registry(r),
      undecodable(r.counter("plimsoll_servo_undecodable_total", "Pods that could not be decoded")),
      unsent(r.gauge("plimsoll_servo_unsent", "Runs that are not sent yet")),
      store_failing(r.gauge("plimsoll_servo_store_failing",
                            "1 while the store cannot be written and runs wait in memory")),
      store_bytes(r.gauge("plimsoll_servo_store_bytes", "Size of the store on disk")) {}

void Metrics::count_run(const loop::RunRecord& run) {
  App& app = app_of(run.app);
  const std::string_view outcome = outcome_of(run);
  metrics::Counter*& counter = app.runs[outcome];
  if (counter == nullptr)
    counter = &registry.counter("plimsoll_servo_runs_total", "Finished runs",
                                {{"app", app.label}, {"result", std::string(outcome)}});
  counter->add();
  const auto duration = run.duration();
  if (run.result == loop::RunRecord::Result::completed && duration)
    app.seconds->observe(static_cast<double>(*duration));
}

void Metrics::count_miss(std::string_view reason) {
  registry
      .counter("plimsoll_servo_appid_misses_total",
               "Pods that could be jobs but have no usable application ID",
               {{"reason", std::string(reason)}})
      .add();
}

void Metrics::count_post(std::string_view result) {
  auto found = posts_.find(result);
  if (found == posts_.end()) {
    metrics::Counter& made = registry.counter(
        "plimsoll_servo_posts_total", "Attempts to send a run", {{"result", std::string(result)}});
    found = posts_.emplace(result, &made).first;
  }
  found->second->add();
}

Metrics::App& Metrics::app_of(const std::string& id) {
  if (auto found = apps_.find(id); found != apps_.end()) return found->second;
  // All other IDs share one entry, so that the metrics and this map do not grow without limit.
  const std::string name = apps_.size() < kMostApps ? id : std::string(kOther);
  auto [made, is_new] = apps_.try_emplace(name);
  if (is_new) {
    made->second.label = name;
    made->second.seconds = &registry.histogram("plimsoll_servo_run_seconds", "Duration of runs",
                                               metrics::spread_bounds(1, 16), {{"app", name}});
  }
  return made->second;
}

}  // namespace plim::servo
