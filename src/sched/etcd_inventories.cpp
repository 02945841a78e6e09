#include "sched/etcd_inventories.hpp"

#include <set>

namespace plim::sched {
namespace {

using namespace std::chrono_literals;

constexpr Nanos kAskEtcd = 5s;

Result<loop::ImageInventory> parse_inventory(const std::string& text) {
  PLIM_TRY(const json::value spec, parse_json(text, "inventory"));
  return loop::inventory_from_json(spec);
}

}  // namespace

EtcdInventories::EtcdInventories(const Executor& loop, EtcdSource source, Tell tell, Clock& clock)
    : source_(std::move(source)),
      prefix_(kube::image_inventory_key(source_.cluster, "")),
      tell_(std::move(tell)),
      clock_(clock),
      tasks_(loop) {}

void EtcdInventories::start() {
  tasks_.spawn("inventories in etcd", follow());
}

Task<void> EtcdInventories::stop() {
  return tasks_.stop();
}

// While etcd is not reachable, the inventories stay and become outdated.
Task<void> EtcdInventories::follow() {
  for (;;) {
    auto done = co_await look();
    synced_ = synced_ || done;
    if (!done)
      log_.write(log::Level::warn, "scheduler", "cannot read the inventories in etcd",
                 {{"error", done.error()}});
    co_await clock_.sleep(kAskEtcd);
  }
}

Task<Result<void>> EtcdInventories::look() {
  PLIM_CO_TRY(const std::vector<kube::EtcdKey> keys, co_await source_.client->list_prefix(prefix_));
  forget_all_but(keys);
  for (const kube::EtcdKey& key : keys) {
    std::string node = node_of(key.key);
    const auto known = known_.find(node);
    if (known != known_.end() && known->second == key.revision) continue;
    PLIM_CO_CHECK(co_await read(std::move(node), key));
  }
  co_return Result<void>();
}

Task<Result<void>> EtcdInventories::read(std::string node, kube::EtcdKey key) {
  const auto text = co_await source_.client->read(key.key);
  // A key that was deleted meanwhile is missing in the next list.
  if (!text && text.error().code == Code::not_found) co_return Result<void>();
  if (!text) co_return text.error();
  known_[node] = key.revision;
  const auto inventory = parse_inventory(*text);
  if (!inventory)
    log::warn("scheduler", "cannot read a node's image inventory",
              {{"node", node}, {"etcd", key.key}, {"error", inventory.error()}});
  tell_(node, inventory ? &*inventory : nullptr);
  co_return Result<void>();
}

void EtcdInventories::forget_all_but(const std::vector<kube::EtcdKey>& keys) {
  std::set<std::string> there;
  for (const kube::EtcdKey& key : keys) there.insert(node_of(key.key));
  std::erase_if(known_, [&](const auto& entry) {
    if (there.contains(entry.first)) return false;
    tell_(entry.first, nullptr);
    return true;
  });
}

std::string EtcdInventories::node_of(const std::string& key) const {
  return key.substr(std::min(key.size(), prefix_.size()));
}

}  // namespace plim::sched
