#include "local/sim/inventory_reporter.hpp"

#include <utility>

namespace plim::local::sim {
namespace {

const kube::Resource kNodeInventories{.group = "plimsoll.io",
                                      .version = "v1alpha1",
                                      .plural = "nodeimageinventories",
                                      .kind = "NodeImageInventory",
                                      .namespaced = false};
constexpr Nanos kLookForKind = std::chrono::seconds(2);
constexpr std::string_view kRuntime = "plimsoll://sim";

json::object inventory_object(const std::string& node, const std::string& uid,
                              const loop::ImageInventory& inventory) {
  json::array owners{
      json::object{{"apiVersion", "v1"}, {"kind", "Node"}, {"name", node}, {"uid", uid}}};
  json::object spec = loop::inventory_to_json(inventory);
  // A merge patch has to remove the field of an earlier report.
  if (!spec.contains("truncated")) spec["truncated"] = nullptr;
  json::object metadata{{"name", node}, {"ownerReferences", std::move(owners)}};
  return {{"apiVersion", kube::api_version(kNodeInventories)},
          {"kind", kNodeInventories.kind},
          {"metadata", std::move(metadata)},
          {"spec", std::move(spec)}};
}

std::size_t hash_of(const loop::ImageInventory& inventory) {
  return std::hash<std::string>()(to_json(loop::inventory_to_json(inventory)));
}

}  // namespace

void InventoryReporter::plan(const std::string& node) {
  sim_.jobs.add({Job::What::inventory, node});
}

Task<void> InventoryReporter::report(Job job) {
  auto found = nodes_.find(job.key);
  if (found == nodes_.end() || !found->second.images) co_return;
  SimNode& node = found->second;
  InventoryState& state = node.inventory;
  if (job.number != 0 && job.number != state.reports) co_return;
  if (!kind_exists_) co_return;  // all nodes are reported once it does
  if (state.writing) {
    state.outdated = true;
    co_return;
  }
  loop::ImageInventory inventory = inventory_of(node.images->arrived(sim_.clock.steady()));
  const std::size_t content = hash_of(inventory);
  if (job.number == 0 && state.reports != 0 && content == state.last) co_return;
  if (std::exchange(state.last, content) != content) ++state.contents;
  state.writing = true;
  const std::uint32_t number = ++state.reports;
  complete(node, inventory);
  const std::string uid = node.uid;
  auto written = co_await write(job.key, uid, std::move(inventory));
  found = nodes_.find(job.key);
  if (found == nodes_.end() || found->second.uid != uid) co_return;
  job.number = number;
  finish(std::move(job), found->second.inventory, written);
}

void InventoryReporter::complete(const SimNode& node, loop::ImageInventory& inventory) const {
  const images::PullOptions& pulls = sim_.options.pulls;
  inventory.runtime = kRuntime;
  inventory.generation = node.inventory.contents;
  inventory.reported_at = sim_.clock.wall();
  if (node.images->has_pulled())
    inventory.bandwidth = static_cast<std::int64_t>(pulls.bytes_per_second * pulls.speedup);
}

void InventoryReporter::finish(Job job, InventoryState& state, const Result<void>& written) {
  state.writing = false;
  const bool again = std::exchange(state.outdated, false);
  if (!written && written.error().code == Code::not_found) {
    if (std::exchange(kind_exists_, false)) sim_.jobs.add({Job::What::kinds, {}}, kLookForKind);
    return;
  }
  // Spread the times, so that thousands of nodes do not report at once.
  const Nanos period = sim_.options.inventory_report;
  Nanos after =
      period -
      Nanos(static_cast<Nanos::rep>(static_cast<double>(period.count()) * sim_.random.unit() / 10));
  if (!written) {
    sim_.jobs.note_failure("cannot write the images of a simulated node", job.key, written.error());
    after = Jobs::kRetry;
  }
  const std::string node = job.key;
  sim_.jobs.add(std::move(job), after);
  if (again) plan(node);
}

Task<Result<void>> InventoryReporter::write(std::string node, std::string uid,
                                            loop::ImageInventory inventory) {
  json::value object = inventory_object(node, uid, loop::fitting_inventory(std::move(inventory)));
  kube::ObjectPath path{.ns = "", .name = std::move(node)};
  auto written = co_await sim_.api.patch(kNodeInventories, path, object);
  if (!written && written.error().code == Code::not_found) {
    path.name.clear();
    json::object& spec = object.get_object()["spec"].get_object();
    if (spec["truncated"].is_null()) spec.erase("truncated");
    written = co_await sim_.api.create(kNodeInventories, path, object);
  }
  if (written) ++sim_.stats.inventories;
  co_return written;
}

Task<void> InventoryReporter::look_for_kind() {
  kind_exists_ = co_await sim_.api.serves(kNodeInventories);
  if (!kind_exists_) {
    sim_.jobs.add({Job::What::kinds, {}}, kLookForKind);
    co_return;
  }
  for (auto& [name, node] : nodes_) {
    if (!node.images) continue;
    node.inventory.reports = 0;  // the earlier reports were not stored
    plan(name);
  }
}

}  // namespace plim::local::sim
