#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/rfc3339.hpp"
#include "local/sim/simulation.hpp"

namespace plim::local::sim {
namespace {

std::string node_name(std::uint32_t number) {
  return fmt::format("sim-{}", number);
}

}  // namespace

void Simulation::see_node(const kube::Node& node) {
  if (!is_simulated(node)) {
    nodes.erase(node.meta.name);
    return;
  }
  auto [place, added] = nodes.try_emplace(node.meta.name);
  SimNode& sim = place->second;
  if (sim.uid != node.meta.uid) sim = SimNode();
  const bool fresh = std::exchange(sim.uid, node.meta.uid).empty();
  if (auto address = address_of(node); !address.empty()) sim.address = std::move(address);
  if (sim.address.empty()) sim.address = node_address(++addresses_of_nodes);
  if (fresh) {
    take_images(node, sim);
    // Spread, so that thousands of leases are not renewed in one burst.
    const auto first = static_cast<Nanos::rep>(static_cast<double>(options.lease_interval.count()) *
                                               random.unit());
    schedule.add(clock.steady() + Nanos(first), {What::lease, node.meta.name});
    for (const PodPointer& pod : pods_seen.store().indexed(by_node, node.meta.name)) see_pod(*pod);
  }
  plan_node(node, sim);
}

// What its status tells of stays there, be it from its maker or from a simulation before this one;
// what the catalog puts on it comes along.
void Simulation::take_images(const kube::Node& node, SimNode& sim) {
  if (!options.catalog) return;
  const auto present = options.catalog->present_on(node.meta.name);
  if (node.images.empty() && present.empty()) return;
  sim.images = std::make_unique<SimImages>();
  for (const kube::NodeImage& told : node.images) {
    images::Image image = image_from_status(told);
    if (image.name.empty()) continue;
    // With the layers that the catalog knows, if it means the same image.
    auto known = catalog.find(image.name);
    if (known && known->image->bytes() == image.bytes())
      sim.images->add(known->image);
    else
      sim.images->add(std::make_shared<const images::Image>(std::move(image)));
  }
  const bool all_told =
      std::ranges::all_of(present, [&](const auto& image) { return sim.images->has(image->name); });
  for (const auto& image : present) sim.images->add(image);
  plan_inventory(node.meta.name);
  if (all_told) return;
  sim.report_planned = true;
  schedule.add(clock.steady(), {What::images, node.meta.name});
}

void Simulation::plan_node(const kube::Node& node, SimNode& sim) {
  if (sim.pending || sim.acted_on == node.meta.resource_version) return;
  if (!node_stages && is_ready(node)) return;
  push({What::node, node.meta.name}, sim, Nanos::zero());
}

Task<void> Simulation::make_node(Job job) {
  const std::string name = node_name(job.number);
  json::array images;
  if (options.catalog)
    images = images_status(options.catalog->present_on(name), options.max_images);
  json::value node = new_node(name, node_address(++addresses_of_nodes), options.shape,
                              std::move(images), clock.wall());
  kube::ObjectPath path{.ns = "", .name = ""};
  auto made = co_await write_new(kube::resources::nodes, path, node);
  if (!made && made.error().code != Code::already_exists) {
    again_later(std::move(job), made.error());
    co_return;
  }
  ++stats.nodes_made;
  progress.notify();
}

Task<void> Simulation::renew_lease(Job job) {
  auto found = nodes.find(job.key);
  const NodePointer node = nodes_seen.store().find(job.key);
  if (found == nodes.end() || !node) co_return;  // the chain of renewals ends with the node
  kube::ObjectPath path{.ns = "kube-node-lease", .name = job.key};
  Result<void> written = fail(Code::not_found, "");
  if (found->second.has_lease)
    written = co_await write_patch(kube::resources::leases, path, renewed_lease(clock.wall()));
  if (!written && written.error().code == Code::not_found) {
    path.name.clear();
    written = co_await write_new(kube::resources::leases, path, new_lease(*node, clock.wall()));
  }
  const bool there = written || written.error().code == Code::already_exists;
  if (auto still = nodes.find(job.key); still != nodes.end()) still->second.has_lease = there;
  if (!written && !there) ++stats.failures;
  ++stats.leases;
  // One that was there before is renewed at once: it may be old.
  schedule.add(clock.steady() + (written ? options.lease_interval : kRetry), std::move(job));
}

Task<void> Simulation::report_images(Job job) {
  auto found = nodes.find(job.key);
  if (found == nodes.end() || !found->second.images) co_return;
  found->second.report_planned = false;
  plan_inventory(job.key);
  json::array list =
      images_status(found->second.images->arrived(clock.steady()), options.max_images);
  json::object status{{"images", std::move(list)}};
  json::value patch = json::object{{"status", std::move(status)}};
  kube::ObjectPath path{.ns = "", .name = job.key, .subresource = "status"};
  auto written = co_await write_patch(kube::resources::nodes, path, patch);
  note(written);
}

Task<void> Simulation::act_on_node(Job job) {
  auto found = nodes.find(job.key);
  const NodePointer node = nodes_seen.store().find(job.key);
  if (found == nodes.end() || !node || found->second.generation != job.number) co_return;
  SimNode& sim = found->second;
  if (node_stages && !sim.looked) {
    const bool waits = co_await look_for_stage(job, kube::resources::nodes, node->meta);
    if (waits) co_return;
  }
  json::value patch;
  std::string version = node->meta.resource_version;
  if (auto now = nodes.find(job.key); now != nodes.end()) {
    if (now->second.generation != job.number) co_return;
    now->second.acted_on = version;
    if (const Stage* stage = now->second.stage) {
      Substitutions with{format_rfc3339(clock.wall()), node->meta.name, node->meta.name, ""};
      auto done = co_await apply_stage(*stage, kube::resources::nodes, node->meta, with);
      finish_node(std::move(job), done);
      co_return;
    }
    if (is_ready(*node)) {
      finish_node(std::move(job), {});
      co_return;
    }
    patch = ready_status(*node, now->second.address, options.shape, clock.wall());
  }
  kube::ObjectPath path{.ns = "", .name = job.key, .subresource = "status"};
  auto written = co_await write_patch(kube::resources::nodes, path, patch);
  note(written);
  Result<void> done;
  if (!written) done = written.error();
  finish_node(std::move(job), done);
}

void Simulation::finish_node(Job job, const Result<void>& done) {
  auto found = nodes.find(job.key);
  if (found == nodes.end() || found->second.generation != job.number) return;
  settle(found->second);
  if (!done) retry(std::move(job), found->second, done.error());
  if (const NodePointer node = nodes_seen.store().find(found->first);
      node && !found->second.pending)
    plan_node(*node, found->second);
}

}  // namespace plim::local::sim
