#include "pools/mutate_requests.hpp"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "base/quantity.hpp"
#include "base/text.hpp"
#include "kube/paths.hpp"

namespace plim::pools {
namespace {

constexpr std::int64_t kMaxAmount = 1'000'000'000;
constexpr std::int64_t kMilli = 1000;
// Extra quota, so that other threads of the container do not throttle those on exclusive CPUs.
constexpr std::int64_t kExclusiveMargin = 100;

tl::unexpected<Rejection> refuse_request(std::string_view code, std::string text) {
  return tl::unexpected(Rejection{code, std::move(text)});
}

std::optional<std::int64_t> whole_amount(const json::value& value) {
  const std::string text = value.is_string() ? std::string(value.get_string()) : to_json(value);
  const auto quantity = parse_quantity(text);
  if (!quantity) return std::nullopt;
  const std::int64_t out = quantity->value();
  if (Quantity(out) != *quantity || out < 0 || out > kMaxAmount) return std::nullopt;
  return out;
}

Admitted<void> read_requests(PoolUser& user, const PoolCatalog& pools) {
  const json::value* resources = user.container->if_contains("resources");
  const json::value* limits =
      resources ? kube::find(*resources, "ResourceRequirements.limits") : nullptr;
  if (!limits || !limits->is_object()) return {};
  for (const auto& [key, value] : limits->get_object()) {
    const std::string_view name = key;
    if (name.size() <= pools.base_name.size() || !name.starts_with(pools.base_name) ||
        name[pools.base_name.size()] != '/')
      continue;
    const std::string pool(name.substr(pools.base_name.size() + 1));
    const auto amount = whole_amount(value);
    if (!amount)
      return refuse_request("RES001",
                            fmt::format("container {}: {} of {} is not a whole number from 0 to {}",
                                        quote(user.name), to_json(value), quote(name), kMaxAmount));
    if (*amount == 0) continue;
    user.requests.push_back({pool, *amount, pools.type_of(pool), pools.find(pool)});
  }
  return {};
}

void collect(const json::value& pod, kube::ListPath list, std::vector<PoolUser>& out) {
  const json::value* containers = kube::find(pod, list);
  if (!containers || !containers->is_array()) return;
  std::size_t index = 0;
  for (const json::value& container : containers->get_array()) {
    std::string pointer = fmt::format("/spec/{}/{}", list.key(), index++);
    if (!container.is_object()) continue;
    out.push_back({.pointer = std::move(pointer),
                   .container = &container.get_object(),
                   .name = std::string(kube::text_at(container, "Container.name"))});
  }
}

Admitted<void> check_container(const AnnotatedContainer& wish, const PoolUser& user,
                               int smt_width) {
  std::map<std::string_view, std::int64_t> sums;
  for (std::size_t i = 0; i < wish.processes.size(); ++i) {
    const AnnotatedProcess& process = wish.processes[i];
    if (user.find(process.pool) == nullptr)
      return refuse_request(
          "ANN010",
          fmt::format("container {}, process {}: {} CPUs of pool {}, of which the container's "
                      "limits have 0",
                      quote(wish.name), i, process.cpus, quote(process.pool)));
    sums[process.pool] += process.cpus;
  }
  for (const PoolRequest& request : user.requests) {
    const std::int64_t sum = sums[request.pool];
    const auto last = std::ranges::find(wish.processes.rbegin(), wish.processes.rend(),
                                        request.pool, &AnnotatedProcess::pool);
    const std::string where = last == wish.processes.rend()
                                  ? fmt::format("container {}, no process", quote(wish.name))
                                  : fmt::format("container {}, up to process {}", quote(wish.name),
                                                wish.processes.rend() - last - 1);
    if (request.type == PoolType::shared && sum != request.millis())
      return refuse_request(
          "ANN011",
          fmt::format("{}: cpus of shared pool {} add up to {}, the container requests {}", where,
                      quote(request.pool), sum, request.millis()));
    const bool whole_cores = request.facts != nullptr && request.facts->whole_cores;
    const std::int64_t limit = request.amount * (whole_cores ? smt_width : 1);
    if (request.type == PoolType::exclusive && sum > limit)
      return refuse_request(
          "ANN012", fmt::format("{}: cpus of exclusive pool {} add up to {}, the container has {}",
                                where, quote(request.pool), sum, limit));
  }
  return {};
}

std::string too_much(const PoolRequest& request, std::int64_t amount, const PoolCatalog& pools) {
  const bool shared = request.type == PoolType::shared;
  const int unit = shared ? request.facts->shared_unit : 1;
  return fmt::format("{} {} of {}/{}, no node has more than {}", amount * unit,
                     shared ? "thousandths of a CPU" : "CPUs", pools.base_name, request.pool,
                     request.facts->devices() * unit);
}

// The containers of a pod run on one node at the same time. Init containers run before them, and
// their amounts do not add up.
Admitted<void> check_sums(const std::vector<PoolUser>& users, const PoolCatalog& pools) {
  std::map<std::string_view, std::int64_t> sums;
  for (const PoolUser& user : users) {
    if (!user.pointer.starts_with("/spec/containers/")) continue;
    for (const PoolRequest& request : user.requests) {
      const std::int64_t sum = sums[request.pool] += request.amount;
      if (request.exceeds(sum))
        return refuse_request("RES003", fmt::format("containers up to {}: {}", quote(user.name),
                                                    too_much(request, sum, pools)));
    }
  }
  return {};
}

}  // namespace

bool PoolUser::asks(PoolType type) const {
  return std::ranges::find(requests, type, &PoolRequest::type) != requests.end();
}

const PoolRequest* PoolUser::find(std::string_view pool) const {
  const auto at = std::ranges::find(requests, pool, &PoolRequest::pool);
  return at == requests.end() ? nullptr : &*at;
}

Admitted<std::vector<PoolUser>> pool_users(const json::value& pod, const PoolCatalog& pools) {
  std::vector<PoolUser> out;
  collect(pod, "Pod.spec.containers", out);
  collect(pod, "Pod.spec.initContainers", out);
  for (PoolUser& user : out)
    if (auto read = read_requests(user, pools); !read) return tl::unexpected(read.error());
  return out;
}

Admitted<void> check_requests(const std::vector<PoolUser>& users, const PoolCatalog& pools,
                              UnknownPool unknown, std::vector<std::string>& warnings) {
  for (const PoolUser& user : users) {
    for (const PoolRequest& request : user.requests) {
      if (request.facts == nullptr && unknown != UnknownPool::allow) {
        std::string text =
            fmt::format("container {}: {} of pool {}, which is in no pool configuration",
                        quote(user.name), request.amount, quote(request.pool));
        if (unknown == UnknownPool::reject) return refuse_request("RES002", std::move(text));
        warnings.push_back("RES002: " + text);
      }
      if (request.exceeds(request.amount))
        return refuse_request("RES003", fmt::format("container {}: {}", quote(user.name),
                                                    too_much(request, request.amount, pools)));
    }
  }
  return check_sums(users, pools);
}

Admitted<void> check_annotation(const Annotation& annotation, const std::vector<PoolUser>& users,
                                int smt_width) {
  for (const AnnotatedContainer& wish : annotation.containers) {
    const auto user = std::ranges::find(users, wish.name, &PoolUser::name);
    if (user == users.end())
      return refuse_request("ANN009",
                            fmt::format("container {} is not in the pod, which has {} "
                                        "containers; the annotation has {} processes for it",
                                        quote(wish.name), users.size(), wish.processes.size()));
    if (user->requests.empty())
      return refuse_request(
          "ANN009", fmt::format("container {} requests 0 CPUs of pools, the annotation has {} "
                                "processes for it",
                                quote(wish.name), wish.processes.size()));
    if (auto good = check_container(wish, *user, smt_width); !good)
      return tl::unexpected(good.error());
  }
  if (annotation.containers.empty())
    return refuse_request("ANN013", "the annotation names no container");
  return {};
}

std::optional<std::int64_t> cpu_quota(const PoolUser& user, CfsQuotas quotas, int smt_width) {
  std::int64_t exclusive = 0, shared = 0, shared_pools = 0;
  for (const PoolRequest& request : user.requests) {
    const bool known = request.facts != nullptr;
    if (request.type == PoolType::exclusive)
      exclusive += request.amount * (known && request.facts->whole_cores ? smt_width : 1);
    if (request.type != PoolType::shared) continue;
    shared += request.millis();
    shared_pools += known ? kMilli * request.facts->largest : request.amount;
  }
  if (quotas == CfsQuotas::none || (exclusive == 0 && shared == 0)) return std::nullopt;
  if (exclusive == 0) return shared;
  if (quotas == CfsQuotas::shared) return std::nullopt;
  return kMilli * exclusive + (shared == 0 ? kExclusiveMargin : shared_pools);
}

}  // namespace plim::pools
