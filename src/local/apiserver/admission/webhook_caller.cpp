#include "local/apiserver/admission/webhook_caller.hpp"

#include <fmt/format.h>

#include "base/random.hpp"
#include "base/text.hpp"
#include "net/url.hpp"

namespace plim::local::apiserver {
namespace {

constexpr std::size_t kMaxClients = 64;
constexpr std::size_t kMaxAnswer = 8u << 20;

std::string query_of(const Webhook& webhook) {
  return fmt::format("timeout={}s", webhook.timeout.count());
}

net::Request make_request(const std::string& path, const Webhook& webhook, std::string body) {
  net::Request out;
  out.method = "POST";
  out.path = path;
  out.query = query_of(webhook);
  out.headers.set("Content-Type", "application/json");
  out.headers.set("Accept", "application/json, */*");
  out.body = std::move(body);
  return out;
}

Error could_not_call(std::string_view url, const Error& why) {
  const std::string_view words =
      why.code == Code::timeout ? std::string_view("context deadline exceeded") : why.message;
  return fail(Code::internal,
              fmt::format("failed to call webhook: Post {}: {}", quote(url), words));
}

}  // namespace

Task<Result<WebhookCaller::Target>> WebhookCaller::find_target(WebhookPtr webhook) {
  Target out;
  if (!webhook->url.empty()) {
    PLIM_CO_TRY(net::Url url, net::parse_url(webhook->url));
    out.base = "https://" + url.host_and_port();
    out.path = url.path.empty() ? "/" : url.path;
    co_return out;
  }
  PLIM_CO_TRY(std::string address,
              co_await find_endpoint(api_, webhook->service_namespace, webhook->service_name,
                                     webhook->service_port));
  out.base = "https://" + address;
  out.path = webhook->path.empty() ? "/" : webhook->path;
  out.server_name = fmt::format("{}.{}.svc", webhook->service_name, webhook->service_namespace);
  co_return out;
}

Result<std::shared_ptr<net::Client>> WebhookCaller::client_for(const Target& target,
                                                               const std::string& ca_pem) {
  const std::string key = fmt::format("{}\n{}\n{}", target.base, target.server_name, ca_pem);
  if (auto found = clients_.find(key); found != clients_.end()) return found->second;
  // Addresses change with the pods; connections to deleted pods are useless.
  if (clients_.size() >= kMaxClients) clients_.clear();
  net::ClientOptions options;
  options.tls.ca_pem = ca_pem;
  options.tls.server_name = target.server_name;
  options.user_agent = "kube-apiserver-admission";
  PLIM_TRY(auto client, net::Client::create(loop_, target.base, std::move(options)));
  clients_.emplace(key, client);
  return client;
}

Task<Result<ReviewAnswer>> WebhookCaller::call(WebhookPtr webhook, json::object request,
                                               Phase phase) {
  const std::string uid = make_uuid();
  request["uid"] = uid;
  json::object review;
  review["kind"] = "AdmissionReview";
  review["apiVersion"] = "admission.k8s.io/v1";
  review["request"] = std::move(request);
  auto target = co_await find_target(webhook);
  if (!target)
    co_return could_not_call(
        fmt::format("https://{}.{}.svc:{}{}?{}", webhook->service_name, webhook->service_namespace,
                    webhook->service_port, webhook->path, query_of(*webhook)),
        target.error());
  const std::string url = fmt::format("{}{}?{}", target->base, target->path, query_of(*webhook));
  auto client = client_for(*target, webhook->ca_pem);
  if (!client) co_return could_not_call(url, client.error());
  std::shared_ptr<net::Client> connection = *client;  // survives if the cache is cleared
  net::CallOptions options;
  options.timeout = webhook->timeout;
  options.max_body = kMaxAnswer;
  net::Request message = make_request(target->path, *webhook, to_json(review));
  auto answer = co_await connection->send(std::move(message), options);
  if (!answer) co_return could_not_call(url, answer.error());
  if (answer->status < 200 || answer->status > 299)
    co_return fail(Code::internal,
                   fmt::format("failed to call webhook: Post {}: the server answered with {} {}",
                               quote(url), answer->status, net::status_text(answer->status)));
  co_return read_answer(answer->body, uid, phase);
}

}  // namespace plim::local::apiserver
