// Pods that come, end, change once more and go, at a steady rate, among many that stay: what
// somebody who follows jobs has to cope with.
#include <fmt/format.h>

#include "base/clock.hpp"
#include "base/files.hpp"
#include "base/json.hpp"
#include "load.hpp"

namespace plim::bench {
namespace {

constexpr std::size_t kEventsOfJob = 4;
constexpr std::size_t kApps = 40;

// Ended 42 s after it began, whenever that is said to have been.
constexpr std::string_view kEnd =
    R"({"status":{"phase":"Succeeded","containerStatuses":[{"name":"main","image":"any","imageID":"","ready":false,)"
    R"("restartCount":0,"state":{"terminated":{"startedAt":"2026-01-01T10:00:00Z","finishedAt":"2026-01-01T10:00:42Z",)"
    R"("exitCode":0,"reason":"Completed"}}}]}})";
constexpr std::string_view kChange = R"({"metadata":{"labels":{"seen":"yes"}}})";
constexpr std::string_view kDelete = R"({"gracePeriodSeconds":0})";

std::string job_text(std::string_view name, std::string_view app) {
  json::value container{{"name", "main"},
                        {"image", "registry.example/team/job:1.0"},
                        {"env", json::array{json::value{{"name", "JOBID"}, {"value", app}}}},
                        {"resources", {{"limits", {{"memory", "64Mi"}}}}}};
  json::object pod{{"apiVersion", "v1"},
                   {"kind", "Pod"},
                   {"metadata", {{"name", name}, {"namespace", kNamespace}}},
                   {"spec",
                    {{"containers", json::array{std::move(container)}},
                     {"restartPolicy", "Never"},
                     {"schedulerName", "nobody"}}}};
  return to_json(pod);
}

std::string pods_path(std::string_view rest = "") {
  return fmt::format("/api/v1/namespaces/{}/pods{}", kNamespace, rest);
}

net::Request merge_request(std::string path, std::string_view body) {
  net::Request out = json_request("PATCH", std::move(path), std::string(body));
  out.headers.set("Content-Type", "application/merge-patch+json");
  return out;
}

class Jobs {
 public:
  Jobs(Executor loop, LoadOptions options)
      : loop_(std::move(loop)), options_(std::move(options)), group_(loop_) {}

  Task<Result<Numbers>> run() {
    PLIM_CO_TRY(clients_, connect(loop_, options_, options_.connections));
    std::shared_ptr<kube::Client> first = clients_.front();
    PLIM_CO_CHECK(co_await make_namespace(*first));
    PLIM_CO_CHECK(co_await remove_pods(*first, options_.limit));
    auto make = [](std::size_t index) {
      return json_request("POST", pods_path(),
                          job_text(pod_name(index), fmt::format("idle{}", index % kApps)));
    };
    Burst idle(loop_, clients_, make);
    PLIM_CO_CHECK(co_await idle.run(options_.pods));
    if (!options_.ledger.empty()) PLIM_CO_CHECK(write_file(options_.ledger, ""));

    const auto events = options_.rate * static_cast<double>(options_.duration.count());
    count_ = static_cast<std::size_t>(events) / kEventsOfJob;
    const Seconds cpu = cpu_of_all(options_.pids);
    start_ = system_clock().steady();
    for (std::size_t i = 0; i < clients_.size(); ++i) group_.spawn("jobs", write_on(i));
    co_await group_.join();
    const Seconds took = system_clock().steady() - start_;
    PLIM_CO_CHECK(outcome_);
    if (!options_.ledger.empty()) PLIM_CO_CHECK(write_file(options_.ledger, ledger_));
    Numbers out = numbers(took, cpu_of_all(options_.pids) - cpu);
    if (!options_.keep) PLIM_CO_CHECK(co_await remove_pods(*first, options_.limit));
    co_return out;
  }

 private:
  Task<void> write_on(std::size_t connection) {
    while (outcome_ && next_ < count_) {
      const std::size_t index = next_++;
      const auto due = Seconds(static_cast<double>(index * kEventsOfJob) / options_.rate);
      co_await system_clock().sleep_until(start_ + std::chrono::duration_cast<Nanos>(due));
      auto done = co_await live(connection, index);
      if (!done) outcome_ = std::move(done).error();
    }
  }

  Task<Result<void>> live(std::size_t connection, std::size_t index) {
    kube::Client& client = *clients_[connection];
    const std::string name = fmt::format("job-{}", index);
    const std::string path = pods_path("/" + name);
    net::Request request =
        json_request("POST", pods_path(), job_text(name, fmt::format("app{}", index % kApps)));
    PLIM_CO_TRY(std::string body, co_await call(client, std::move(request)));
    PLIM_CO_TRY(json::value pod, parse_json(body, "pod"));
    const SteadyTime ended = system_clock().steady();
    ledger_ += fmt::format("{} {}\n", text_at(pod, {"metadata", "uid"}),
                           std::chrono::duration_cast<Nanos>(ended.time_since_epoch()).count());
    request = merge_request(path + "/status", kEnd);
    PLIM_CO_TRY(std::string end, co_await call(client, std::move(request)));
    milliseconds_.push_back(1e3 * Seconds(system_clock().steady() - ended).count());
    request = merge_request(path, kChange);
    PLIM_CO_TRY(std::string change, co_await call(client, std::move(request)));
    request = json_request("DELETE", path, std::string(kDelete));
    PLIM_CO_TRY(std::string gone, co_await call(client, std::move(request)));
    co_return Result<void>();
  }

  Numbers numbers(Seconds took, Seconds cpu) {
    const auto events = static_cast<double>(count_ * kEventsOfJob);
    Numbers out{{"pods", static_cast<double>(options_.pods)},
                {"runs", static_cast<double>(count_)},
                {"events_per_second", events / took.count()},
                {"write_p50_ms", quantile(milliseconds_, 0.5)},
                {"write_p99_ms", quantile(milliseconds_, 0.99)}};
    if (!options_.pids.empty()) {
      out.emplace_back("cpu_ms_per_1000_events", 1e6 * cpu.count() / events);
      out.emplace_back("rss_mb", resident_megabytes(options_.pids));
    }
    return out;
  }

  Executor loop_;
  LoadOptions options_;
  std::vector<std::shared_ptr<kube::Client>> clients_;
  std::size_t count_ = 0, next_ = 0;
  SteadyTime start_;
  std::string ledger_;
  std::vector<double> milliseconds_;
  Result<void> outcome_;
  TaskGroup group_;
};

}  // namespace

Task<Result<Numbers>> load_jobs(Executor loop, LoadOptions options) {
  Jobs jobs(std::move(loop), std::move(options));
  co_return co_await jobs.run();
}

}  // namespace plim::bench
