#include "agent/pod_fetch.hpp"

#include <fmt/format.h>

#include "base/files.hpp"
#include "base/text.hpp"
#include "net/tls_failure.hpp"

namespace plim::agent {
namespace {

constexpr std::size_t kMaxBody = 64 << 20;

Result<net::ClientTls> read_tls(const KubernetesNodeConfig& config) {
  net::ClientTls out;
  if (config.ssl && !config.ssl->certificate_path.empty()) {
    PLIM_TRY(out.certificate_pem, read_file(config.ssl->certificate_path));
    PLIM_TRY(out.key_pem, read_file(config.ssl->key_path));
  }
  if (config.ssl) out.insecure = !config.ssl->verify;
  if (config.ssl && !config.ssl->ca_path.empty()) {
    PLIM_TRY(out.ca_pem, read_file(config.ssl->ca_path));
  } else if (auto ca = read_file(config.ca_path)) {
    out.ca_pem = std::move(*ca);
  }
  return out;
}

std::string api_server(const KubernetesNodeConfig& config) {
  return fmt::format("https://{}{}{}", config.api_host, config.api_port.empty() ? "" : ":",
                     config.api_port);
}

}  // namespace

FetchFailure failure_of(const Error& error) {
  const std::string& text = error.message;
  if (error.code == Code::timeout) return {"timeout", text};
  if (net::is_tls_failure(error)) return {"tls", text};
  if (error.code == Code::too_large) return {"bad_json", "the list of pods is too large: " + text};
  return {"connect", text};
}

FetchFailure failure_of(int status, bool of_kubelet) {
  constexpr std::string_view kKubeletRight =
      "the agent's user needs get on nodes/pods (Kubernetes 1.33 and later) or nodes/proxy";
  constexpr std::string_view kApiRight = "the agent's user needs list on pods";
  const std::string_view right = of_kubelet ? kKubeletRight : kApiRight;
  const std::string answered =
      fmt::format("{} answered {}", of_kubelet ? "the kubelet" : "the API server", status);
  if (status == 401)
    return {"http_401", fmt::format("{}: it accepts neither the certificate nor the token; {}",
                                    answered, right)};
  if (status == 403) return {"http_403", fmt::format("{}: {}", answered, right)};
  return {status >= 500 ? "http_5xx" : "http_4xx", answered};
}

PodFetch::PodFetch(Executor loop, KubernetesNodeConfig config)
    : loop_(std::move(loop)),
      config_(std::move(config)),
      base_(config_.kubelet_enabled ? config_.kubelet_endpoint : api_server(config_)) {}

// Reads the certificates for the first connection, and again after a failure, because they rotate.
Result<void> PodFetch::connect() {
  net::ClientOptions options;
  options.connect_timeout = net::Millis(static_cast<long>(config_.timeout * 1000));
  options.max_idle = 1;
  if (base_.starts_with("https://")) {
    PLIM_TRY(options.tls, read_tls(config_));
  }
  PLIM_TRY(client_, net::Client::create(loop_, base_, std::move(options)));
  return {};
}

std::vector<std::string> PodFetch::queries() const {
  if (config_.kubelet_enabled) return {"/pods"};
  std::vector<std::string> out;
  for (const std::string& ns : config_.namespaces) {
    out.push_back(ns == "*" ? "/api/v1/pods"
                            : fmt::format("/api/v1/namespaces/{}/pods", net::percent_encode(ns)));
    if (ns == "*") return {out.back()};
  }
  return out;
}

Task<Fetched> PodFetch::fetch() {
  Fetched out;
  if (!client_) {
    auto connected = connect();
    if (!connected) {
      out.failure = FetchFailure{"tls", connected.error().message};
      co_return out;
    }
  }
  net::CallOptions options;
  options.timeout = net::Millis(static_cast<long>(config_.timeout * 1000));
  options.max_body = kMaxBody;
  for (const std::string& path : queries()) {
    net::Request request;
    request.path = path;
    request.headers.set("Accept", "application/json");
    if (!config_.kubelet_enabled) {
      request.query = "resourceVersion=0";
      if (!config_.node_name.empty())
        request.query +=
            "&fieldSelector=" + net::percent_encode("spec.nodeName=" + config_.node_name);
    }
    // Tokens rotate, so each request reads the file. A token is never sent without TLS.
    if (base_.starts_with("https://"))
      if (auto token = read_file(config_.token_path); token && !trim(*token).empty())
        request.headers.set("Authorization", "Bearer " + std::string(trim(*token)));
    auto answer = co_await client_->send(std::move(request), options);
    if (!answer) {
      out.failure = failure_of(answer.error());
      client_.reset();
      co_return out;
    }
    if (answer->status != 200) {
      out.failure = failure_of(answer->status, config_.kubelet_enabled);
      if (answer->status == 401) client_.reset();
      co_return out;
    }
    out.bodies.push_back(std::move(answer->body));
  }
  co_return out;
}

}  // namespace plim::agent
