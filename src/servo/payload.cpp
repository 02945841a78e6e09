#include "servo/payload.hpp"

#include "base/json.hpp"

namespace plim::servo {
namespace {

using std::chrono::floor;
using std::chrono::seconds;

json::object metric(const json::value& value, std::string_view unit) {
  return {{"value", value}, {"unit", unit}};
}

std::string event(std::string_view name, json::object param) {
  return to_json(json::object{{"event", name}, {"param", std::move(param)}});
}

void put_wait(json::object& metrics, std::string_view name, const std::optional<WallTime>& from,
              const std::optional<WallTime>& to) {
  if (from && to)
    metrics[name] = metric((floor<seconds>(*to) - floor<seconds>(*from)).count(), "s");
}

}  // namespace

std::string measurement(const loop::RunRecord& run, Extra extra) {
  const auto duration = run.duration();
  if (run.result != loop::RunRecord::Result::completed || !duration)
    return event("MEASUREMENT", {{"status", "failed"}, {"message", run.message}});

  json::object metrics;
  metrics["duration"] = metric(*duration, "s");
  // Times have a resolution of one second: a shorter run has no rate.
  if (*duration > 0) metrics["perf"] = metric(1.0 / static_cast<double>(*duration), "1/s");
  if (run.estimate) metrics["est_duration"] = metric(*run.estimate, "s");
  if (extra == Extra::more) {
    put_wait(metrics, "queue_time", run.created, run.started);
    put_wait(metrics, "init_time", run.pod_started, run.started);
    metrics["attempts"] = metric(run.attempts(), "count");
  }
  json::object annotations;
  annotations["resources"] = to_json(run.resources);
  if (run.exit_code) annotations["exitcode"] = *run.exit_code;
  if (run.clock_stepped) annotations["clock"] = "stepped";
  return event("MEASUREMENT",
               {{"metrics", std::move(metrics)}, {"annotations", std::move(annotations)}});
}

std::string hello(std::string_view account) {
  return event("HELLO", {{"account", account}});
}

std::string goodbye(std::string_view account, std::string_view reason) {
  return event("GOODBYE", {{"account", account}, {"reason", reason}});
}

}  // namespace plim::servo
