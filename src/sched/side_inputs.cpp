#include "sched/side_inputs.hpp"

#include <algorithm>
#include <utility>

#include "base/log.hpp"
#include "kube/object.hpp"
#include "placement/side_objects.hpp"

namespace plim::sched {
namespace {

using namespace std::chrono_literals;

constexpr Nanos kLookForKind = 30s;
// How long decisions wait for inventories. After that the scheduler goes on without them, for
// example if it may not read them or etcd is not reachable.
constexpr Nanos kWaitForInventories = 5s;

const kube::Resource kBudgets{.group = "policy",
                              .version = "v1",
                              .plural = "poddisruptionbudgets",
                              .kind = "PodDisruptionBudget"};
const kube::Resource kInventories{.group = "plimsoll.io",
                                  .version = "v1alpha1",
                                  .plural = "nodeimageinventories",
                                  .kind = "NodeImageInventory",
                                  .namespaced = false};

using MaybeInventory = std::optional<loop::ImageInventory>;

// An invalid inventory counts as none: then only the node's status is used.
MaybeInventory read_inventory(const kube::ObjectMeta& meta, const json::value& object) {
  const json::value* spec = find(object, {"spec"});
  if (spec == nullptr) return std::nullopt;
  auto made = loop::inventory_from_json(*spec);
  if (made) return std::move(*made);
  log::warn("scheduler", "cannot read a node's image inventory",
            {{"node", meta.name}, {"error", made.error()}});
  return std::nullopt;
}

}  // namespace

placement::Needs needs_of(const Configuration& config) {
  placement::Needs out;
  for (const ProfileConfig& each : config.profiles) out |= placement::needs_of(each.profile);
  return out;
}

SideInputs::SideInputs(const Executor& loop, std::shared_ptr<kube::Client> client, EtcdSource etcd,
                       Engine& engine, kube::InternPool& pool, OnEvent on_event,
                       std::function<void()> on_synced, Clock& clock)
    : loop_(loop),
      client_(std::move(client)),
      engine_(engine),
      pool_(pool),
      on_event_(std::move(on_event)),
      on_synced_(std::move(on_synced)),
      clock_(clock),
      tasks_(loop) {
  follow_budgets();
  for (const auto& follower : disruptions_) follower->on_synced(on_synced_);
  if (etcd.client)
    in_etcd_ = std::make_unique<EtcdInventories>(
        loop_, std::move(etcd),
        [this](const std::string& node, const loop::ImageInventory* inventory) {
          take_inventory(node, inventory, InventorySource::Etcd);
        },
        clock_);
}

void SideInputs::take_inventory(const std::string& node, const loop::ImageInventory* inventory,
                                InventorySource reporter) {
  if (inventory != nullptr)
    engine_.set_inventory(node, *inventory, reporter);
  else
    engine_.remove_inventory(node, reporter);
  on_event_(EventKind::Inventory);
}

void SideInputs::follow_budgets() {
  using Budgets = FollowerOf<placement::DisruptionBudget>;
  disruptions_.push_back(std::make_unique<Budgets>(
      loop_, client_, kBudgets, pool_, placement::read_budget,
      [this](const Budgets::Kept& kept) { budgets_[kube::object_key(kept.meta)] = kept.value; },
      [this](const Budgets::Kept& kept) { budgets_.erase(kube::object_key(kept.meta)); }, clock_));
}

void SideInputs::start(const placement::Needs& needs) {
  if (needs.budgets && !std::exchange(followed_.budgets, true))
    for (const auto& follower : disruptions_) follower->start();
  if (std::exchange(started_, true)) return;
  // Inventories decide between nodes with equal scores, with any set of plugins.
  patient_until_ = clock_.steady() + kWaitForInventories;
  tasks_.spawn("inventories of images", follow_inventories());
  if (in_etcd_) in_etcd_->start();
}

// Looks for the kind through discovery, which every user may read. A cluster without the kind has
// no agent, and listing it would fail.
Task<void> SideInputs::follow_inventories() {
  using Inventories = FollowerOf<MaybeInventory>;
  for (;; co_await clock_.sleep(kLookForKind)) {
    net::Request request{.path = "/apis/plimsoll.io/v1alpha1", .query = {}};
    net::CallOptions options;
    auto answer = co_await client_->raw(std::move(request), options);
    if (answer && answer->status == 200 &&
        answer->body.find("nodeimageinventories") != std::string::npos)
      break;
    if (!answer || std::exchange(looked_for_kind_, true)) continue;
    log::info("scheduler",
              "no image inventories in this cluster: using only the images in node status");
    on_event_(EventKind::Inventory);  // decisions need not wait any more
  }
  inventories_ = std::make_unique<Inventories>(
      loop_, client_, kInventories, pool_, read_inventory,
      [this](const Inventories::Kept& kept) {
        take_inventory(kept.meta.name, kept.value ? &*kept.value : nullptr, InventorySource::Crd);
      },
      [this](const Inventories::Kept& kept) {
        take_inventory(kept.meta.name, nullptr, InventorySource::Crd);
      },
      clock_);
  inventories_->on_synced(on_synced_);
  inventories_->start();
  looked_for_kind_ = true;
}

Task<void> SideInputs::stop() {
  co_await tasks_.stop();
  for (const auto& follower : disruptions_) co_await follower->stop();
  if (inventories_) co_await inventories_->stop();
  if (in_etcd_) co_await in_etcd_->stop();
}

bool SideInputs::synced() const {
  const auto is_synced = [](const auto& follower) { return follower->synced(); };
  return (!followed_.budgets || std::ranges::all_of(disruptions_, is_synced)) &&
         (knows_inventories() || clock_.steady() >= patient_until_);
}

bool SideInputs::knows_inventories() const {
  return looked_for_kind_ && (!inventories_ || inventories_->synced()) &&
         (!in_etcd_ || in_etcd_->synced());
}

std::vector<placement::DisruptionBudget> SideInputs::budgets() const {
  std::vector<placement::DisruptionBudget> out;
  for (const auto& [key, budget] : budgets_) out.push_back(budget);
  return out;
}

}  // namespace plim::sched
