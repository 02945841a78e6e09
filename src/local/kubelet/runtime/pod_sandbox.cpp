#include "local/kubelet/runtime/pod_sandbox.hpp"

#include <algorithm>
#include <utility>

#include "base/log.hpp"
#include "kube/paths.hpp"
#include "local/kubelet/runtime/api_access.hpp"
#include "local/kubelet/runtime/volumes.hpp"

namespace plim::local::kubelet {
using namespace std::chrono_literals;

namespace {

constexpr auto kVolumesEvery = 60s;
constexpr auto kTokensEvery = 8min;  // the shortest lifetime of a token is ten minutes

}  // namespace

Task<void> PodSandbox::make() {
  for (Nanos wait = 500ms;; wait = std::min<Nanos>(wait * 2, 2min)) {
    auto made = co_await make_once();
    if (made) co_return;
    const std::string& why = made.error().message;
    if (why.starts_with("MountVolume")) {
      report_.warn("FailedMount", why);
    } else {
      report_.warn("FailedCreatePodSandBox", "Failed to create pod sandbox: " + why);
    }
    co_await pod_.node.clock.sleep(wait);
  }
}

Task<Result<void>> PodSandbox::make_once() {
  PodContext& node = pod_.node;
  PodFacts& facts = pod_.facts;
  PLIM_CO_CHECK(pod_.files.make());
  if (facts.pod_ip.empty()) {
    facts.pod_ip = kube::bool_at(pod_.object, "Pod.spec.hostNetwork") ? node.addresses.node()
                                                                      : node.addresses.take();
    if (facts.pod_ip.empty())
      co_return fail(Code::unavailable, "no pod address is free on this node");
  }
  PLIM_CO_CHECK(pod_.files.write_note({pod_.object, facts.pod_ip, *facts.start_time}));
  PLIM_CO_CHECK(node.cgroups.make_pod(pod_.object));
  PLIM_CO_CHECK(co_await fill_volumes());
  co_await make_api_access();
  co_return co_await shim_.open();
}

Task<void> PodSandbox::refresh_volumes() {
  if (pod_.node.clock.steady() < refresh_at_) co_return;
  auto filled = co_await fill_volumes();
  if (!filled) report_.warn("FailedMount", filled.error().message);
}

Task<Result<void>> PodSandbox::fill_volumes() {
  PodContext& node = pod_.node;
  SourceNeeds needs = volume_needs(pod_.object);
  const SteadyTime now = node.clock.steady();
  const bool keep_tokens = !sources_.tokens.empty() && now < tokens_until_;
  const bool has_files = !needs.config_maps.empty() || !needs.secrets.empty();
  refresh_at_ = has_files || !needs.tokens.empty() ? now + kVolumesEvery : SteadyTime::max();
  if (keep_tokens) {
    needs.tokens.clear();
  } else {
    tokens_until_ = now + kTokensEvery;
  }
  PLIM_CO_TRY(PodSources fresh, co_await fetch_sources(node.client, pod_.object, std::move(needs)));
  if (keep_tokens) fresh.tokens = sources_.tokens;
  // A controller creates this ConfigMap in every namespace, but a pod may start before that.
  if (!node.options.api_ca_pem.empty())
    fresh.config_maps.try_emplace(
        "kube-root-ca.crt",
        json::object{{"data", json::object{{"ca.crt", node.options.api_ca_pem}}}});
  sources_ = std::move(fresh);
  co_return make_volumes(pod_.object, node.place(pod_.facts.pod_ip), sources_,
                         node.volume_roots(pod_.uid));
}

// A cluster that issues no tokens still runs pods.
Task<void> PodSandbox::make_api_access() {
  const NodeOptions& options = pod_.node.options;
  if (options.api_url.empty()) co_return;
  auto made =
      co_await write_api_access(pod_.node.client, pod_.object, options, pod_.files.directory());
  if (!made)
    log::debug("node", "no API access for a pod",
               {{"pod", pod_.full_name()}, {"error", made.error()}});
}

Task<void> PodSandbox::remove() {
  PodContext& node = pod_.node;
  co_await shim_.quit();
  co_await remove_cgroup(&node.cgroups, pod_.object);
  if (pod_.facts.pod_ip != node.addresses.node()) node.addresses.release(pod_.facts.pod_ip);
  remove_volumes(pod_.object);
}

}  // namespace plim::local::kubelet
