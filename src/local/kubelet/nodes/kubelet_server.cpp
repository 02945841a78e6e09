#include "local/kubelet/nodes/kubelet_server.hpp"

#include <cerrno>
#include <utility>

#include <fmt/format.h>

#include "base/exposition.hpp"
#include "base/text.hpp"
#include "kube/paths.hpp"
#include "local/kubelet/nodes/kubelet_logs.hpp"
#include "local/kubelet/nodes/kubelet_stats.hpp"
#include "local/kubelet/nodes/usage_sampler.hpp"
#include "net/server.hpp"

namespace plim::local::kubelet {
namespace {

using net::Reply;
using net::Request;
using net::Response;

constexpr int kPortsToTry = 100;

Response json_reply(const json::value& value) {
  return {200, {{"Content-Type", "application/json"}}, to_json(value)};
}

Response metrics_reply(std::string text) {
  return {200, {{"Content-Type", std::string(metrics::kContentType)}}, std::move(text)};
}

json::value pod_list(json::array items) {
  return json::object{{"kind", "PodList"},
                      {"apiVersion", "v1"},
                      {"metadata", json::object()},
                      {"items", std::move(items)}};
}

std::int64_t nanos(WallTime time) {
  return time.time_since_epoch().count();
}

class NodeServer final : public KubeletServer {
 public:
  NodeServer(const Executor& loop, Clock& clock, KubeletServerOptions options, KubeletPods& pods,
             const NodeCgroups& cgroups, const images::NodeImages& images)
      : loop_(loop),
        clock_(clock),
        options_(std::move(options)),
        pods_(pods),
        cgroups_(cgroups),
        images_(images),
        usage_(clock, pods, cgroups),
        logs_(loop, clock, pods),
        tasks_(loop) {}

  Result<void> listen() {
    auto [host, port_text] = cut_address();
    PLIM_TRY(int port, parse_int<int>(port_text));
    for (int tried = 0;; ++tried) {
      net::ServerOptions options;
      options.address = fmt::format("{}:{}", host, port == 0 ? 0 : port + tried);
      options.tls = options_.tls;
      auto server = net::Server::listen({loop_}, std::move(options), routes());
      if (server) {
        server_ = std::move(*server);
        break;
      }
      if (port == 0 || tried == kPortsToTry || server.error().errno_value != EADDRINUSE)
        return server.error();
    }
    tasks_.spawn("usage of pods", keep_sampling());
    return {};
  }

  std::uint16_t port() const override { return server_->port(); }

  UsageSampler& usage() override { return usage_; }

  Task<void> stop() override {
    co_await tasks_.stop();
    co_await logs_.stop();
    co_await server_->drain(net::Millis(0));
  }

 private:
  using Answer = Reply (NodeServer::*)(const Request&);

  std::pair<std::string, std::string> cut_address() const {
    const std::size_t colon = options_.address.rfind(':');
    if (colon == std::string::npos) return {options_.address, "0"};
    return {options_.address.substr(0, colon), options_.address.substr(colon + 1)};
  }

  std::vector<net::Route> routes() {
    std::vector<net::Route> out;
    auto add = [&](std::string pattern, std::string subresource, Answer answer) {
      net::Route route{.method = "GET", .pattern = std::move(pattern)};
      route.handler = [this, subresource = std::move(subresource), answer](Request request) {
        return check_then(std::move(request), subresource, answer);
      };
      out.push_back(std::move(route));
    };
    add("/healthz", "healthz", &NodeServer::healthz);
    add("/pods", "pods", &NodeServer::pods);
    add("/pods/", "pods", &NodeServer::pods);
    add("/runningpods/", "pods", &NodeServer::running_pods);
    add("/configz", "configz", &NodeServer::configz);
    add("/stats/summary", "stats", &NodeServer::summary);
    add("/metrics/resource", "metrics", &NodeServer::resource);
    add("/metrics/cadvisor", "metrics", &NodeServer::cadvisor);
    add("/metrics", "metrics", &NodeServer::own_metrics);
    add("/plimsoll/v1/runs", "stats", &NodeServer::runs);
    net::Route logs{.method = "GET", .pattern = "/containerLogs/*"};
    logs.handler = [this](Request request) { return check_then_log(std::move(request)); };
    out.push_back(std::move(logs));
    return out;
  }

  // Checks the specific permission first, then "proxy", which allows everything.
  Task<Result<void>> check(net::Peer peer, std::string token, std::string subresource) {
    auto allowed = co_await options_.access(peer, token, "get", subresource);
    if (allowed || allowed.error().code != Code::forbidden || subresource == "proxy")
      co_return allowed;
    co_return co_await options_.access(std::move(peer), std::move(token), "get", "proxy");
  }

  static Response refusal(const Error& error) {
    return {http_status(error.code), {{"Content-Type", "text/plain"}}, error.message + "\n"};
  }

  Task<Reply> check_then(Request request, std::string subresource, Answer answer) {
    std::string token(net::bearer_token(request.headers));
    auto allowed = co_await check(request.peer, std::move(token), std::move(subresource));
    if (!allowed) co_return refusal(allowed.error());
    co_return (this->*answer)(request);
  }

  Task<Reply> check_then_log(Request request) {
    std::string token(net::bearer_token(request.headers));
    auto allowed = co_await check(request.peer, std::move(token), "proxy");
    if (!allowed) co_return refusal(allowed.error());
    auto reply = co_await logs_.answer(std::move(request));
    if (!reply) co_return refusal(reply.error());
    co_return std::move(*reply);
  }

  Task<void> keep_sampling() {
    for (;;) {
      usage_.sample();
      co_await clock_.sleep(UsageSampler::kWindow);
    }
  }

  Reply healthz(const Request&) { return Response{200, {{"Content-Type", "text/plain"}}, "ok"}; }

  Reply pods(const Request&) {
    json::array items;
    for (json::value& pod : pods_.pods()) items.push_back(std::move(pod));
    return json_reply(pod_list(std::move(items)));
  }

  // The runtime's view: pods with a running container, without their API status.
  Reply running_pods(const Request&) {
    json::array items;
    for (const json::value& pod : pods_.pods()) {
      json::array containers;
      for (const json::value& status : kube::list_at(pod, "Pod.status.containerStatuses"))
        if (kube::find(status, "ContainerStatus.state.running"))
          containers.push_back(
              json::object{{"name", kube::text_at(status, "ContainerStatus.name")},
                           {"image", kube::text_at(status, "ContainerStatus.image")},
                           {"resources", json::object()}});
      if (containers.empty()) continue;
      items.push_back(json::object{
          {"metadata", json::object{{"name", kube::text_at(pod, "Pod.metadata.name")},
                                    {"namespace", kube::text_at(pod, "Pod.metadata.namespace")},
                                    {"uid", kube::text_at(pod, "Pod.metadata.uid")}}},
          {"spec", json::object{{"containers", std::move(containers)}}},
          {"status", json::object()}});
    }
    return json_reply(pod_list(std::move(items)));
  }

  Reply configz(const Request&) {
    json::object config{{"kind", "KubeletConfiguration"},
                        {"apiVersion", "kubelet.config.k8s.io/v1beta1"},
                        {"address", cut_address().first},
                        {"port", server_->port()},
                        {"readOnlyPort", 0},
                        {"cgroupRoot", cgroups_.root()},
                        {"cgroupDriver", node::driver_name(cgroups_.driver())},
                        {"cgroupsPerQOS", cgroups_.available()},
                        {"cpuManagerPolicy", "none"},
                        {"topologyManagerPolicy", "none"},
                        {"memoryManagerPolicy", "None"},
                        {"cpuCFSQuota", true},
                        {"cpuCFSQuotaPeriod", "100ms"}};
    return json_reply(json::object{{"kubeletconfig", std::move(config)}});
  }

  Reply summary(const Request&) {
    return json_reply(stats_summary(options_.node, usage_.sample()));
  }

  Reply resource(const Request&) { return metrics_reply(resource_metrics(usage_.sample())); }

  Reply cadvisor(const Request&) {
    return metrics_reply(cadvisor_metrics(usage_.sample(), cgroups_.driver()));
  }

  Reply own_metrics(const Request&) {
    using metrics::Type;
    metrics::Exposition out;
    const node::NodeUsage& usage = usage_.sample();
    std::size_t containers = 0;
    for (const node::PodUsage& pod : usage.pods) containers += pod.containers.size();
    out.family("kubelet_node_name", "The node's name", Type::gauge)
        .sample({{"node", options_.node}}, 1);
    out.family("kubelet_running_pods", "Pods with a running container", Type::gauge)
        .sample(static_cast<double>(usage.pods.size()));
    out.family("kubelet_running_containers", "Containers by state", Type::gauge)
        .sample({{"container_state", "running"}}, static_cast<double>(containers));
    out.family("plimsoll_local_images", "Images on the node", Type::gauge)
        .sample(static_cast<double>(images_.list().size()));
    out.family("plimsoll_local_layers_moving", "Layers that are being pulled", Type::gauge)
        .sample(static_cast<double>(images_.moving().size()));
    return metrics_reply(out.text());
  }

  Reply runs(const Request&) {
    json::array items;
    for (const ContainerRun& run : pods_.runs()) {
      json::object one{{"namespace", run.ns},
                       {"pod", run.pod},
                       {"uid", run.uid},
                       {"container", run.container},
                       {"containerID", run.container_id},
                       {"restart", run.restart},
                       {"startedWallNs", nanos(run.started_wall)},
                       {"startedMonotonicNs", run.started_monotonic.count()}};
      if (run.finished_wall != WallTime()) {
        one["finishedWallNs"] = nanos(run.finished_wall);
        one["finishedMonotonicNs"] = run.finished_monotonic.count();
        one["exitCode"] = run.exit_code;
      }
      items.push_back(std::move(one));
    }
    return json_reply(json::object{{"runs", std::move(items)}});
  }

  Executor loop_;
  Clock& clock_;
  KubeletServerOptions options_;
  KubeletPods& pods_;
  const NodeCgroups& cgroups_;
  const images::NodeImages& images_;
  UsageSampler usage_;
  KubeletLogs logs_;
  std::unique_ptr<net::Server> server_;
  TaskGroup tasks_;
};

}  // namespace

Result<std::unique_ptr<KubeletServer>> KubeletServer::start(Executor loop, Clock& clock,
                                                            KubeletServerOptions options,
                                                            KubeletPods& pods,
                                                            const NodeCgroups& cgroups,
                                                            const images::NodeImages& images) {
  PLIM_ASSERT(options.access);
  auto out = std::make_unique<NodeServer>(loop, clock, std::move(options), pods, cgroups, images);
  PLIM_CHECK(out->listen());
  return out;
}

}  // namespace plim::local::kubelet
