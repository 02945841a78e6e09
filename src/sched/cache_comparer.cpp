#include "sched/cache_comparer.hpp"

namespace plim::sched {
namespace {

constexpr Nanos kWatchesCatchUp = std::chrono::seconds(1);

// Reads from the server's cache, as informers do at the start, and not from etcd.
kube::ListOptions from_cache(std::string_view field_selector) {
  return {.field_selector = std::string(field_selector), .limit = 500, .resource_version = "0"};
}

}  // namespace

Task<Result<void>> CacheComparer::list(kube::Resource resource, kube::ListOptions options,
                                       TakePage take) {
  for (;;) {
    PLIM_CO_TRY(std::string page, co_await client_->list_page(resource, options));
    PLIM_CO_TRY(kube::ListMeta meta, take(kube::JsonText(page)));
    if (meta.continue_token.empty()) co_return Result<void>();
    options.continue_token = std::move(meta.continue_token);
    options.resource_version.clear();  // the token contains it
  }
}

Task<Result<CacheDifference>> CacheComparer::compare_once() {
  kube::InternPool pool;
  ListedCluster found;
  const kube::Visit<kube::Node> see_node = [&](const auto& node) -> Result<void> {
    found.nodes.insert(node->meta.name);
    return {};
  };
  const kube::Visit<kube::Pod> see_pod = [&](const auto& pod) -> Result<void> {
    found.add(*pod, state_);
    return {};
  };
  TakePage take_nodes = [&](kube::JsonText page) { return decode_nodes(page, pool, see_node); };
  TakePage take_pods = [&](kube::JsonText page) { return decode_pods(page, pool, see_pod); };
  kube::ListOptions nodes = from_cache(""), pods = from_cache(kRunningPods);
  PLIM_CO_CHECK(co_await list(kube::resources::nodes, std::move(nodes), std::move(take_nodes)));
  PLIM_CO_CHECK(co_await list(kube::resources::pods, std::move(pods), std::move(take_pods)));
  co_return compare_cache(state_, found);
}

Task<Result<CacheDifference>> CacheComparer::compare() {
  PLIM_CO_TRY(CacheDifference first, co_await compare_once());
  if (first.none()) co_return first;
  co_await clock_.sleep(kWatchesCatchUp);
  PLIM_CO_TRY(CacheDifference second, co_await compare_once());
  co_return common(first, second);
}

}  // namespace plim::sched
