#include "local/kubelet/runtime/api_access.hpp"

#include <algorithm>
#include <string_view>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>

#include "base/base64.hpp"
#include "base/files.hpp"
#include "base/text.hpp"
#include "kube/object.hpp"
#include "kube/paths.hpp"
#include "local/kubelet/runtime/pod_sources.hpp"

namespace plim::local::kubelet {

namespace {

constexpr std::string_view kUsualPlace = "/var/run/secrets/kubernetes.io/serviceaccount";
// This token is never renewed, so it lasts longer than any pod of a local cluster.
constexpr std::int64_t kTokenSeconds = 365 * 24 * 3600;

struct Address {
  std::string host, port;
};

Address address_of(std::string_view url) {
  if (const auto scheme = url.find("://"); scheme != url.npos) url.remove_prefix(scheme + 3);
  url = url.substr(0, url.find('/'));
  const auto colon = url.rfind(':');
  if (colon == url.npos) return {std::string(url), "443"};
  return {std::string(url.substr(0, colon)), std::string(url.substr(colon + 1))};
}

std::string kubeconfig(const NodeOptions& options, std::string_view token, std::string_view ns) {
  const json::object cluster{{"server", options.api_url},
                             {"certificate-authority-data", base64_encode(options.api_ca_pem)}};
  const json::object context{{"cluster", "local"}, {"user", "pod"}, {"namespace", ns}};
  return to_json(json::object{
      {"apiVersion", "v1"},
      {"kind", "Config"},
      {"current-context", "pod"},
      {"clusters", json::array{json::object{{"name", "local"}, {"cluster", cluster}}}},
      {"users",
       json::array{json::object{{"name", "pod"}, {"user", json::object{{"token", token}}}}}},
      {"contexts", json::array{json::object{{"name", "pod"}, {"context", context}}}}});
}

bool wants_token(const json::value& pod) {
  const json::value* given = kube::find(pod, "Pod.spec.automountServiceAccountToken");
  return given == nullptr || !given->is_bool() || given->as_bool();
}

}  // namespace

Task<Result<void>> write_api_access(std::shared_ptr<kube::Client> client, json::value pod,
                                    NodeOptions options, std::string directory) {
  if (!wants_token(pod)) co_return Result<void>();
  SourceNeeds needs;
  const TokenNeed need{"", kTokenSeconds};
  needs.tokens.insert(need);
  PLIM_CO_TRY(const PodSources sources,
              co_await fetch_sources(std::move(client), pod, std::move(needs)));
  const std::string& token = sources.tokens.at(need);
  const std::string place = directory + "/api";
  PLIM_CO_CHECK(make_directories(place));
  const WriteOptions secret{.mode = 0600, .sync = false};
  PLIM_CO_CHECK(write_file(place + "/token", token, secret));
  PLIM_CO_CHECK(write_file(place + "/ca.crt", options.api_ca_pem, secret));
  PLIM_CO_CHECK(write_file(place + "/namespace", kube::namespace_of(pod), secret));
  co_return write_file(directory + "/kubeconfig",
                       kubeconfig(options, token, kube::namespace_of(pod)), secret);
}

void add_api_environment(const NodeOptions& options, const std::string& directory, bool isolated,
                         Environment& out) {
  const Address address = address_of(options.api_url);
  out.set("KUBERNETES_SERVICE_HOST", address.host);
  out.set("KUBERNETES_SERVICE_PORT", address.port);
  out.set("KUBERNETES_SERVICE_PORT_HTTPS", address.port);
  out.set("KUBERNETES_PORT", fmt::format("tcp://{}:{}", address.host, address.port));
  const std::string config = directory + "/kubeconfig";
  if (!isolated && ::access(config.c_str(), R_OK) == 0) out.set("KUBECONFIG", config);
}

void add_api_mount(const NodeOptions& options, const std::string& directory, StartSpec& spec) {
  const std::string from = directory + "/api";
  if (!spec.own_mounts || options.api_url.empty() || ::access(from.c_str(), R_OK) != 0) return;
  const bool taken = std::any_of(spec.mounts.begin(), spec.mounts.end(),
                                 [](const ShimMount& mount) { return mount.to == kUsualPlace; });
  if (!taken) spec.mounts.push_back({from, std::string(kUsualPlace), true});
}

}  // namespace plim::local::kubelet
