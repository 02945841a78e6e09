#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/clock.hpp"
#include "base/json.hpp"
#include "kube/status.hpp"
#include "load.hpp"
#include "usage.hpp"

namespace plim::bench {
namespace {

using namespace std::chrono_literals;

const net::CallOptions kPatient = [] {
  net::CallOptions out;
  out.timeout = 120s;
  return out;
}();

std::string pods_path() {
  return fmt::format("/api/v1/namespaces/{}/pods", kNamespace);
}

}  // namespace

double quantile(std::vector<double>& samples, double share) {
  if (samples.empty()) return 0;
  std::ranges::sort(samples);
  const auto last = static_cast<double>(samples.size() - 1);
  return samples[static_cast<std::size_t>(std::ceil(share * last))];
}

Result<std::vector<std::shared_ptr<kube::Client>>> connect(const Executor& loop,
                                                           const LoadOptions& options,
                                                           std::size_t count) {
  std::vector<std::shared_ptr<kube::Client>> out;
  for (std::size_t i = 0; i < count; ++i) {
    PLIM_TRY(auto client, kube::Client::create(loop, options.cluster));
    out.push_back(std::move(client));
  }
  return out;
}

std::string pod_name(std::size_t index) {
  return fmt::format("load-6c5d8f7b9-{:05}", index);
}

std::string node_name(std::size_t index) {
  return fmt::format("load-node-{:05}", index);
}

std::string pod_text(const PodNames& names) {
  json::value container{
      {"name", "main"},
      {"image", "registry.example/team/service:1.27.3"},
      {"args", {"--listen=:8080", "--log-format=json"}},
      {"ports", json::array{json::value{{"name", "http"}, {"containerPort", 8080}}}},
      {"env", json::array{json::value{{"name", "REGION"}, {"value", "eu-central"}},
                          json::value{{"name", "LOG_LEVEL"}, {"value", "info"}}}},
      {"resources",
       {{"requests", {{"cpu", "100m"}, {"memory", "64Mi"}}}, {"limits", {{"memory", "128Mi"}}}}}};
  json::object spec = names.spec;
  spec["containers"] = json::array{std::move(container)};
  spec["terminationGracePeriodSeconds"] = 1;
  if (names.node.empty())
    spec["schedulerName"] = names.scheduler;
  else
    spec["nodeName"] = names.node;
  json::object pod{{"apiVersion", "v1"},
                   {"kind", "Pod"},
                   {"metadata",
                    {{"name", names.name},
                     {"namespace", kNamespace},
                     {"labels", {{"app", "plimsoll-load"}, {"pod-template-hash", "6c5d8f7b9"}}},
                     {"annotations", {{"written", "0"}}}}},
                   {"spec", std::move(spec)}};
  return to_json(pod);
}

net::Request json_request(std::string method, std::string path, std::string body) {
  net::Request out;
  out.method = std::move(method);
  const std::size_t question = path.find('?');
  if (question != path.npos) out.query = path.substr(question + 1);
  out.path = path.substr(0, question);
  out.headers.set("Content-Type", "application/json");
  out.headers.set("Accept", "application/json");
  out.headers.set("Accept-Encoding", "identity");
  out.body = std::move(body);
  return out;
}

Task<Result<std::string>> call(kube::Client& client, net::Request request) {
  const std::string what = fmt::format("{} {}", request.method, request.path);
  PLIM_CO_TRY(net::Response answer, co_await client.raw(std::move(request), kPatient));
  if (answer.status / 100 == 2) co_return std::move(answer.body);
  co_return kube::error_from_answer(answer.status, answer.headers, answer.body).with_context(what);
}

Task<Result<void>> make_namespace(kube::Client& client) {
  json::object object{{"apiVersion", "v1"},
                      {"kind", "Namespace"},
                      {"metadata", json::object{{"name", kNamespace}}}};
  net::Request request = json_request("POST", "/api/v1/namespaces", to_json(object));
  auto made = co_await call(client, std::move(request));
  if (!made && made.error().code != Code::already_exists) co_return std::move(made).error();
  // A real cluster wants to see the account before the first pod; without controllers nobody else
  // makes it.
  json::object account{{"apiVersion", "v1"},
                       {"kind", "ServiceAccount"},
                       {"metadata", json::object{{"name", "default"}}}};
  request = json_request("POST", fmt::format("/api/v1/namespaces/{}/serviceaccounts", kNamespace),
                         to_json(account));
  made = co_await call(client, std::move(request));
  if (!made && made.error().code != Code::already_exists) co_return std::move(made).error();
  co_return Result<void>();
}

Task<Result<void>> remove_pods(kube::Client& client, std::chrono::seconds limit) {
  net::Request request = json_request("DELETE", pods_path(), R"({"gracePeriodSeconds":0})");
  PLIM_CO_TRY(std::string gone, co_await call(client, std::move(request)));
  const SteadyTime end = system_clock().steady() + limit;
  while (system_clock().steady() < end) {
    net::Request list = json_request("GET", pods_path() + "?limit=1", "");
    PLIM_CO_TRY(std::string body, co_await call(client, std::move(list)));
    PLIM_CO_TRY(json::value parsed, parse_json(body, "list of pods"));
    const json::value* items = find(parsed, {"items"});
    if (items == nullptr || !items->is_array() || items->get_array().empty())
      co_return Result<void>();
    co_await system_clock().sleep(100ms);
  }
  co_return fail(Code::timeout, "the pods of earlier loads do not go away");
}

Task<Result<void>> Burst::run(std::size_t count) {
  count_ = count;
  start_ = system_clock().steady();
  for (std::size_t i = 0; i < clients_.size(); ++i) group_.spawn("load", send_on(i));
  co_await group_.join();
  took_ = system_clock().steady() - start_;
  co_return outcome_;
}

Task<Result<void>> Burst::run_at(std::size_t count, double rate) {
  rate_ = rate;
  co_return co_await run(count);
}

Task<void> Burst::send_on(std::size_t connection) {
  while (outcome_ && next_ < count_) {
    const std::size_t index = next_++;
    if (rate_ > 0) {
      const auto due = Seconds(static_cast<double>(index) / rate_);
      co_await system_clock().sleep_until(start_ + std::chrono::duration_cast<Nanos>(due));
    }
    net::Request request = make_(index);
    const SteadyTime sent = system_clock().steady();
    auto answer = co_await call(*clients_[connection], std::move(request));
    if (!answer)
      outcome_ = std::move(answer).error();
    else
      milliseconds_.push_back(1e3 * Seconds(system_clock().steady() - sent).count());
  }
}

Seconds cpu_of_all(const std::vector<pid_t>& pids) {
  Seconds out{0};
  for (pid_t pid : pids) out += cpu_of(pid);
  return out;
}

double resident_megabytes(const std::vector<pid_t>& pids) {
  long out = 0;
  for (pid_t pid : pids) out += resident_kilobytes(pid);
  return static_cast<double>(out) / 1024;
}

}  // namespace plim::bench
