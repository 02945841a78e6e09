// What simulated nodes hold, as an agent on each of them would publish it: they have none, so the
// simulation does.
#include <utility>

#include "local/sim/simulation.hpp"

namespace plim::local::sim {
namespace {

const kube::Resource kNodeInventories{.group = "plimsoll.io",
                                      .version = "v1alpha1",
                                      .plural = "nodeimageinventories",
                                      .kind = "NodeImageInventory",
                                      .namespaced = false};
constexpr Nanos kLookForKinds = std::chrono::seconds(2);
constexpr std::string_view kRuntime = "plimsoll://sim";

json::object inventory_object(const std::string& node, const std::string& uid,
                              const loop::ImageInventory& inventory) {
  json::array owners{
      json::object{{"apiVersion", "v1"}, {"kind", "Node"}, {"name", node}, {"uid", uid}}};
  json::object spec = loop::inventory_to_json(inventory);
  // A merge must take away what an earlier report had.
  if (!spec.contains("truncated")) spec["truncated"] = nullptr;
  json::object metadata{{"name", node}, {"ownerReferences", std::move(owners)}};
  return {{"apiVersion", kube::api_version(kNodeInventories)},
          {"kind", kNodeInventories.kind},
          {"metadata", std::move(metadata)},
          {"spec", std::move(spec)}};
}

}  // namespace

void Simulation::plan_inventory(const std::string& node) {
  schedule.add(clock.steady(), {What::inventory, node});
}

// Without a number it is because something has changed; with one, because the report of that number
// has become old.
Task<void> Simulation::report_inventory(Job job) {
  auto found = nodes.find(job.key);
  if (found == nodes.end() || !found->second.images) co_return;
  SimNode& sim = found->second;
  if (job.number != 0 && job.number != sim.reports) co_return;
  if (!has_inventories) co_return;  // all are told once it has them
  if (sim.telling) {
    sim.tell_again = true;
    co_return;
  }
  loop::ImageInventory inventory = inventory_of(sim.images->arrived(clock.steady()));
  const std::size_t content = std::hash<std::string>()(to_json(loop::inventory_to_json(inventory)));
  if (job.number == 0 && sim.reports != 0 && content == sim.told) co_return;
  if (std::exchange(sim.told, content) != content) ++sim.contents;
  sim.telling = true;
  const std::uint32_t number = ++sim.reports;
  inventory.runtime = kRuntime;
  inventory.generation = sim.contents;
  inventory.reported_at = clock.wall();
  if (sim.images->has_pulled())
    inventory.bandwidth =
        static_cast<std::int64_t>(options.pulls.bytes_per_second * options.pulls.speedup);
  const std::string uid = sim.uid;
  auto written = co_await write_inventory(job.key, uid, std::move(inventory));
  found = nodes.find(job.key);
  if (found == nodes.end() || found->second.uid != uid) co_return;
  found->second.telling = false;
  const bool again = std::exchange(found->second.tell_again, false);
  if (!written && written.error().code == Code::not_found) {
    has_inventories = false;
    if (!std::exchange(looking_for_kinds, true))
      schedule.add(clock.steady() + kLookForKinds, {What::kinds, {}});
    co_return;
  }
  // Spread, so that thousands of nodes do not report at one moment.
  Nanos after = options.inventory_report -
                Nanos(static_cast<Nanos::rep>(
                    static_cast<double>(options.inventory_report.count()) * random.unit() / 10));
  if (!written) {
    ++stats.failures;
    log_.write(log::Level::warn, "local", "cannot write the images of a simulated node",
               {{"node", job.key}, {"error", written.error()}});
    after = kRetry;
  }
  schedule.add(clock.steady() + after, {What::inventory, job.key, number});
  if (again) plan_inventory(job.key);
}

Task<Result<void>> Simulation::write_inventory(std::string node, std::string uid,
                                               loop::ImageInventory inventory) {
  json::value object = inventory_object(node, uid, loop::fitting_inventory(std::move(inventory)));
  kube::ObjectPath path{.ns = "", .name = std::move(node)};
  auto written = co_await write_patch(kNodeInventories, path, object);
  if (!written && written.error().code == Code::not_found) {
    path.name.clear();
    json::object& spec = object.get_object()["spec"].get_object();
    if (spec["truncated"].is_null()) spec.erase("truncated");
    written = co_await write_new(kNodeInventories, path, object);
  }
  if (written) ++stats.inventories;
  co_return written;
}

// Somebody may define the kind at any time. One question for all nodes.
Task<void> Simulation::look_for_kinds() {
  kube::ListOptions one{.limit = 1};
  auto listed = co_await client->list_page(kNodeInventories, std::move(one));
  if (!listed) {
    schedule.add(clock.steady() + kLookForKinds, {What::kinds, {}});
    co_return;
  }
  has_inventories = true;
  looking_for_kinds = false;
  for (auto& [name, node] : nodes) {
    if (!node.images) continue;
    node.reports = 0;  // what was told was told to nobody
    plan_inventory(name);
  }
}

}  // namespace plim::local::sim
