#include "local/apiserver/api/node_proxy.hpp"

#include <chrono>

#include <fmt/format.h>

#include "base/text.hpp"
#include "kube/paths.hpp"
#include "local/apiserver/api/object_bytes.hpp"
#include "local/apiserver/api/reads.hpp"

namespace plim::local::apiserver {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kQueueHigh = 64;
constexpr Nanos kQueuePoll = 20ms;
constexpr std::size_t kMaxRefusal = 64u << 10;

std::vector<std::string> containers_of(const json::value& pod) {
  std::vector<std::string> out;
  constexpr kube::ListPath kLists[] = {"Pod.spec.containers", "Pod.spec.initContainers",
                                       "Pod.spec.ephemeralContainers"};
  for (kube::ListPath list : kLists) {
    for (const json::value& one : kube::list_at(pod, list))
      out.emplace_back(kube::text_at(one, "Container.name"));
  }
  return out;
}

ApiResult<std::string> container_of(const json::value& pod, std::string_view name,
                                    std::string_view asked) {
  const auto all = containers_of(pod);
  const json::value* main = kube::find(pod, "Pod.spec.containers");
  const std::size_t count = main && main->is_array() ? main->get_array().size() : 0;
  if (asked.empty()) {
    if (count == 1) return all.front();
    return bad_request(
        fmt::format("a container name must be specified for pod {}, choose one of: "
                    "[{}]",
                    name, fmt::join(all, " ")));
  }
  if (std::ranges::find(all, asked) != all.end()) return std::string(asked);
  return bad_request(fmt::format("container {} is not valid for pod {}", asked, name));
}

// Omits hop-by-hop headers and those that only concern the connection to us.
void copy_headers(const net::Headers& from, net::Headers& to) {
  for (std::string_view name : {"Content-Type", "Accept", "User-Agent", "Location"})
    if (from.has(name)) to.set(std::string(name), std::string(from.get(name)));
}

ApiResult<void> check_log_options(const Query& query, std::string_view pod) {
  std::vector<Cause> causes;
  auto check_least = [&](std::string_view name, std::int64_t least) -> ApiResult<void> {
    PLIM_TRY(std::optional<std::int64_t> value, query.integer(name));
    if (value && *value < least)
      causes.push_back({"FieldValueInvalid",
                        fmt::format("Invalid value: {}: must be greater than {}", *value,
                                    least == 0 ? "or equal to 0" : "0"),
                        std::string(name)});
    return {};
  };
  PLIM_CHECK(check_least("tailLines", 0));
  PLIM_CHECK(check_least("limitBytes", 1));
  if (query.has("sinceSeconds") && query.has("sinceTime"))
    causes.push_back({"FieldValueForbidden",
                      "Forbidden: at most one of `sinceTime` or `sinceSeconds` may be specified",
                      "[]"});
  else
    PLIM_CHECK(check_least("sinceSeconds", 1));
  if (causes.empty()) return {};
  Kind options;
  options.kind = "PodLogOptions";
  return invalid(options, pod, std::move(causes));
}

}  // namespace

Task<ApiResult<net::Reply>> NodeProxy::log(CallPtr call) {
  const ResourcePath& target = call->target;
  PLIM_CO_TRY(store::EntryPtr entry, find_entry(core_, *target.kind, target.ns, target.name));
  PLIM_CO_CHECK(check_log_options(call->query, target.name));
  const json::value pod = decode_object(*entry->value);
  PLIM_CO_TRY(std::string container, container_of(pod, target.name, call->query.text("container")));
  std::string node(kube::text_at(pod, "Pod.spec.nodeName"));
  if (node.empty()) {  // the pod has no node, so no log yet
    net::Response nothing{.status = 200};
    nothing.headers.set("Content-Type", "text/plain");
    co_return nothing;
  }
  std::vector<std::pair<std::string, std::string>> query;
  for (const char* name :
       {"follow", "previous", "timestamps", "tailLines", "limitBytes", "sinceSeconds", "sinceTime"})
    if (call->query.has(name)) query.emplace_back(name, call->query.text(name));
  net::Request request;
  request.path = fmt::format("/containerLogs/{}/{}/{}", net::percent_encode(target.ns),
                             net::percent_encode(target.name), net::percent_encode(container));
  request.query = net::format_query(query);
  auto out = co_await send(std::move(node), std::move(request), Refusals::as_status);
  co_return out;
}

Task<ApiResult<net::Reply>> NodeProxy::forward(CallPtr call, std::string query) {
  net::Request request;
  request.method = call->method;
  request.path = call->target.rest.empty() ? "/" : call->target.rest;
  request.query = std::move(query);
  request.body = call->body;
  copy_headers(call->headers, request.headers);
  auto out = co_await send(call->target.name, std::move(request), Refusals::as_they_are);
  co_return out;
}

ApiResult<std::shared_ptr<net::Client>> NodeProxy::client_of(const std::string& node) {
  const KindPtr nodes = core_.kinds.find("", "v1", "nodes");
  PLIM_TRY(store::EntryPtr entry, find_entry(core_, *nodes, "", node));
  const json::value object = decode_object(*entry->value);
  std::string address;
  for (const json::value& one : kube::list_at(object, "Node.status.addresses"))
    if (address.empty() && kube::text_at(one, "NodeAddress.type") == "InternalIP")
      address = kube::text_at(one, "NodeAddress.address");
  const std::int64_t port =
      kube::int_at(object, "Node.status.daemonEndpoints.kubeletEndpoint.Port").value_or(10250);
  if (address.empty())
    return fail(Code::unavailable, fmt::format("node {} has no address yet", node));
  if (port == 0)  // for example, a simulated node
    return fail(Code::unavailable, fmt::format("node {} serves neither logs nor figures", node));
  const bool is_v6 = address.find(':') != address.npos;
  const std::string base = is_v6 ? fmt::format("https://[{}]:{}", address, port)
                                 : fmt::format("https://{}:{}", address, port);
  std::shared_ptr<net::Client>& client = clients_[base];
  if (!client) {
    net::ClientOptions options;
    options.tls = tls_;
    PLIM_TRY(client, net::Client::create(core_.loop, base, std::move(options)));
  }
  return client;
}

Task<ApiResult<net::Reply>> NodeProxy::send(std::string node, net::Request request,
                                            Refusals refusals) {
  PLIM_CO_TRY(std::shared_ptr<net::Client> client, client_of(node));
  net::CallOptions options;
  auto opened = co_await client->open(std::move(request), options);
  if (!opened)
    co_return fail(Code::internal,
                   fmt::format("error from node {}: {}", node, opened.error().message));
  std::shared_ptr<net::ResponseStream> answer = std::move(*opened);
  if (answer->status() >= 400 && refusals == Refusals::as_status) {
    std::string text;
    for (;;) {
      auto piece = co_await answer->next();
      if (!piece || !*piece || text.size() > kMaxRefusal) break;
      text += **piece;
    }
    ApiError refusal = bad_request(std::string(trim(text)));
    refusal.code = answer->status();
    if (refusal.code != 400) refusal.reason = refusal.code == 404 ? "NotFound" : "InternalError";
    co_return refusal;
  }
  net::Streamed out;
  out.status = answer->status();
  copy_headers(answer->headers(), out.headers);
  out.attach = [this, answer](std::shared_ptr<net::Sink> sink) {
    net::Sink& open = *sink;
    auto handle = streams_.spawn("proxy", pump(answer, std::move(sink)));
    open.on_gone([handle]() mutable { handle.cancel(); });
  };
  co_return net::Reply(std::move(out));
}

Task<void> NodeProxy::pump(std::shared_ptr<net::ResponseStream> answer,
                           std::shared_ptr<net::Sink> sink) {
  for (;;) {
    auto piece = co_await answer->next();
    if (!piece || !*piece) break;
    if (!sink->push(std::make_shared<const std::string>(std::move(**piece)))) co_return;
    while (sink->queued() > kQueueHigh) co_await core_.clock.sleep(kQueuePoll);
  }
  sink->finish();
}

}  // namespace plim::local::apiserver
