#include "sched/extender.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/files.hpp"
#include "base/text.hpp"

namespace plim::sched {
namespace {

std::string without_last_slashes(std::string_view url) {
  while (url.ends_with('/')) url.remove_suffix(1);
  return std::string(url);
}

Result<std::string> data_or_file(const std::string& data, const std::string& path) {
  if (!data.empty() || path.empty()) return data;
  return read_file(path);
}

Result<net::ClientTls> tls_of(const ExtenderConfig& config) {
  net::ClientTls out;
  if (config.tls) {
    const ExtenderTls& given = *config.tls;
    PLIM_TRY(out.ca_pem, data_or_file(given.ca_data, given.ca_file));
    PLIM_TRY(out.certificate_pem, data_or_file(given.cert_data, given.cert_file));
    PLIM_TRY(out.key_pem, data_or_file(given.key_data, given.key_file));
    out.server_name = given.server_name;
    out.insecure = given.insecure;
  }
  // As in kube-scheduler, certificates are not verified if no authority is configured.
  if (config.enable_https && out.ca_pem.empty()) out.insecure = true;
  return out;
}

bool asks_for(const std::vector<kube::Container>& containers, std::string_view resource) {
  const auto names = [&](const kube::ResourceList& list) {
    return std::ranges::any_of(list, [&](const auto& one) { return one.first == resource; });
  };
  return std::ranges::any_of(containers, [&](const kube::Container& one) {
    return names(one.requests) || names(one.limits);
  });
}

}  // namespace

Result<std::shared_ptr<Extender>> Extender::create(const Executor& loop, ExtenderConfig config) {
  const auto named = [&](const Error& error) {
    return error.with_context(fmt::format("extender {}", config.url_prefix));
  };
  auto tls = tls_of(config);
  if (!tls) return named(tls.error());
  const auto limit = std::chrono::ceil<net::Millis>(config.timeout);
  std::string base = without_last_slashes(config.url_prefix);
  net::ClientOptions options{.tls = std::move(*tls), .connect_timeout = limit};
  options.proxy = net::proxy_from_environment(base);
  auto client = net::Client::create(loop, std::move(base), std::move(options));
  if (!client) return named(client.error());
  return std::shared_ptr<Extender>(new Extender(std::move(config), std::move(*client)));
}

bool Extender::is_interested(const kube::Pod& pod) const {
  if (config_.managed.empty()) return true;
  return std::ranges::any_of(config_.managed, [&](const ManagedResource& resource) {
    return asks_for(pod.spec.containers, resource.name) ||
           asks_for(pod.spec.init_containers, resource.name);
  });
}

bool Extender::has_a_say() const {
  return !config_.filter_verb.empty() || !config_.prioritize_verb.empty() ||
         !config_.preempt_verb.empty();
}

bool Extender::wants_whole_nodes() const {
  return !config_.node_cache_capable &&
         (!config_.filter_verb.empty() || !config_.prioritize_verb.empty());
}

Task<Result<std::string>> Extender::call(std::string verb, std::string body, Again again) const {
  net::Request request{.method = "POST", .path = fmt::format("/{}", verb)};
  request.headers.set("Content-Type", "application/json");
  request.body = std::move(body);
  net::CallOptions options;
  options.timeout = std::chrono::ceil<net::Millis>(config_.timeout);
  net::Request first = request;
  auto answer = co_await client_->send(std::move(first), options);
  if (!answer && answer.error().code == Code::unavailable && again == Again::once)
    answer = co_await client_->send(std::move(request), options);
  if (!answer) co_return about(verb, answer.error());
  if (answer->status != 200)
    co_return fail(Code::unknown,
                   fmt::format("failed {} with extender at URL {}/{}, code {}", verb,
                               without_last_slashes(config_.url_prefix), verb, answer->status));
  co_return std::move(answer->body);
}

Error Extender::about(const std::string& verb, const Error& error) const {
  return error.with_context(fmt::format("extender {}: {}", config_.url_prefix, verb));
}

Task<Result<ExtenderFilterAnswer>> Extender::filter(std::string body,
                                                    std::vector<std::string> names) const {
  PLIM_CO_TRY(const std::string answer,
              co_await call(config_.filter_verb, std::move(body), Again::once));
  co_return read_filter_answer(answer, config_.url_prefix, names, config_.node_cache_capable);
}

Task<Result<Extender::Scores>> Extender::prioritize(std::string body) const {
  PLIM_CO_TRY(const std::string answer,
              co_await call(config_.prioritize_verb, std::move(body), Again::once));
  auto scores = read_priorities(answer);
  if (!scores) co_return about(config_.prioritize_verb, scores.error());
  co_return scores;
}

Task<Result<void>> Extender::bind(std::string body) const {
  PLIM_CO_TRY(const std::string answer,
              co_await call(config_.bind_verb, std::move(body), Again::no));
  co_return read_binding_answer(answer);
}

Task<Result<std::vector<ExtenderVictims>>> Extender::preempt(std::string body) const {
  PLIM_CO_TRY(const std::string answer,
              co_await call(config_.preempt_verb, std::move(body), Again::once));
  auto victims = read_preemption_answer(answer);
  if (!victims) co_return about(config_.preempt_verb, victims.error());
  co_return victims;
}

Result<std::shared_ptr<const ExtenderList>> make_extenders(
    const Executor& loop, std::span<const ExtenderConfig> configs) {
  ExtenderList out;
  for (const bool ignorable : {false, true})
    for (const ExtenderConfig& config : configs) {
      if (config.ignorable != ignorable) continue;
      PLIM_TRY(out.emplace_back(), Extender::create(loop, config));
    }
  return std::make_shared<const ExtenderList>(std::move(out));
}

}  // namespace plim::sched
