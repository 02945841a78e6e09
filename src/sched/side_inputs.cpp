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

const kube::Resource kClaims{.group = "",
                             .version = "v1",
                             .plural = "persistentvolumeclaims",
                             .kind = "PersistentVolumeClaim"};
const kube::Resource kVolumes{.group = "",
                              .version = "v1",
                              .plural = "persistentvolumes",
                              .kind = "PersistentVolume",
                              .namespaced = false};
const kube::Resource kClasses{.group = "storage.k8s.io",
                              .version = "v1",
                              .plural = "storageclasses",
                              .kind = "StorageClass",
                              .namespaced = false};
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
  follow_storage();
  follow_budgets();
  for (const auto* followers : {&storage_, &disruptions_})
    for (const auto& follower : *followers) follower->on_synced(on_synced_);
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

void SideInputs::follow_storage() {
  using Claims = FollowerOf<placement::VolumeClaim>;
  using Volumes = FollowerOf<placement::PersistentVolume>;
  using Classes = FollowerOf<placement::StorageClass>;
  storage_.push_back(std::make_unique<Claims>(
      loop_, client_, kClaims, pool_, placement::read_claim,
      [this](const Claims::Kept& kept) {
        engine_.volumes().set_claim(kept.value);
        on_event_(EventKind::Volumes);
      },
      [this](const Claims::Kept& kept) {
        engine_.volumes().remove_claim(kept.value.ns, kept.value.name);
      },
      clock_));
  storage_.push_back(std::make_unique<Volumes>(
      loop_, client_, kVolumes, pool_, placement::read_volume,
      [this](const Volumes::Kept& kept) {
        engine_.volumes().set_volume(kept.value);
        on_event_(EventKind::Volumes);
      },
      [this](const Volumes::Kept& kept) { engine_.volumes().remove_volume(kept.value.name); },
      clock_));
  storage_.push_back(std::make_unique<Classes>(
      loop_, client_, kClasses, pool_, placement::read_class,
      [this](const Classes::Kept& kept) {
        engine_.volumes().set_class(kept.value);
        on_event_(EventKind::Volumes);
      },
      [this](const Classes::Kept& kept) { engine_.volumes().remove_class(kept.value.name); },
      clock_));
}

void SideInputs::follow_budgets() {
  using Budgets = FollowerOf<placement::DisruptionBudget>;
  disruptions_.push_back(std::make_unique<Budgets>(
      loop_, client_, kBudgets, pool_, placement::read_budget,
      [this](const Budgets::Kept& kept) { budgets_[kube::object_key(kept.meta)] = kept.value; },
      [this](const Budgets::Kept& kept) { budgets_.erase(kube::object_key(kept.meta)); }, clock_));
}

void SideInputs::start(const placement::Needs& needs) {
  if (needs.storage && !std::exchange(followed_.storage, true))
    for (const auto& follower : storage_) follower->start();
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
  for (const auto& follower : storage_) co_await follower->stop();
  for (const auto& follower : disruptions_) co_await follower->stop();
  if (inventories_) co_await inventories_->stop();
  if (in_etcd_) co_await in_etcd_->stop();
}

bool SideInputs::synced() const {
  const auto is_synced = [](const auto& follower) { return follower->synced(); };
  return (!followed_.storage || std::ranges::all_of(storage_, is_synced)) &&
         (!followed_.budgets || std::ranges::all_of(disruptions_, is_synced)) &&
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
