#include "local/sim/node_player.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/rfc3339.hpp"

namespace plim::local::sim {
namespace {

std::string node_name(std::uint32_t number) {
  return fmt::format("sim-{}", number);
}

}  // namespace

NodePlayer::NodePlayer(const SimContext& context, const kube::Store<kube::Node>& objects,
                       StageRunner& stages)
    : sim_(context),
      objects_(objects),
      stages_(stages),
      has_stages_(stages.has_stages("Node")),
      catalog_(context.options.catalog),
      inventories_(context, nodes_) {}

bool NodePlayer::see(const kube::Node& node) {
  if (!is_simulated(node)) {
    nodes_.erase(node.meta.name);
    return false;
  }
  SimNode& sim = nodes_.try_emplace(node.meta.name).first->second;
  if (sim.uid != node.meta.uid) sim = SimNode();
  const bool fresh = std::exchange(sim.uid, node.meta.uid).empty();
  if (auto address = address_of(node); !address.empty()) sim.address = std::move(address);
  if (sim.address.empty()) sim.address = node_address(++addresses_);
  if (!fresh) return false;
  take_images(node, sim);
  // Spread the times, so that thousands of leases are not renewed at once.
  const auto first = static_cast<Nanos::rep>(
      static_cast<double>(sim_.options.lease_interval.count()) * sim_.random.unit());
  sim_.jobs.add({Job::What::lease, node.meta.name}, Nanos(first));
  return true;
}

// Images that the node's status lists stay there. The catalog may add more.
void NodePlayer::take_images(const kube::Node& node, SimNode& sim) {
  if (!sim_.options.catalog) return;
  const auto present = sim_.options.catalog->present_on(node.meta.name);
  if (node.images.empty() && present.empty()) return;
  sim.images = std::make_unique<SimImages>();
  for (const kube::NodeImage& listed : node.images) {
    images::Image image = image_from_status(listed);
    if (image.name.empty()) continue;
    // Use the layers from the catalog if it describes the same image.
    auto known = catalog_.find(image.name);
    if (known && known->image->bytes() == image.bytes())
      sim.images->add(known->image);
    else
      sim.images->add(std::make_shared<const images::Image>(std::move(image)));
  }
  const bool all_listed =
      std::ranges::all_of(present, [&](const auto& image) { return sim.images->has(image->name); });
  for (const auto& image : present) sim.images->add(image);
  inventories_.plan(node.meta.name);
  if (all_listed) return;
  sim.report_planned = true;
  sim_.jobs.add({Job::What::images, node.meta.name});
}

void NodePlayer::plan(const kube::Node& node) {
  if (auto found = nodes_.find(node.meta.name); found != nodes_.end())
    plan_one(node, found->second);
}

void NodePlayer::plan_one(const kube::Node& node, SimNode& sim) {
  if (sim.pending || sim.acted_on == node.meta.resource_version) return;
  if (!has_stages_ && is_ready(node)) return;
  sim_.jobs.push({Job::What::node, node.meta.name}, sim, Nanos::zero());
}

std::string NodePlayer::host_ip_of(std::string_view name) const {
  const auto found = nodes_.find(name);
  return found != nodes_.end() ? found->second.address : "";
}

Result<Nanos> NodePlayer::pull_images(const kube::Pod& pod) {
  auto found = nodes_.find(pod.spec.node_name.view());
  if (!sim_.options.catalog || found == nodes_.end()) return Nanos::zero();
  SimNode& node = found->second;
  if (!node.images) node.images = std::make_unique<SimImages>();
  const SteadyTime now = sim_.clock.steady();
  SteadyTime last = now;
  for (const auto* list : {&pod.spec.init_containers, &pod.spec.containers}) {
    for (const kube::Container& container : *list) {
      PLIM_TRY(const SteadyTime arrival,
               node.images->pull(container.image.view(), catalog_, sim_.options.pulls, now));
      last = std::max(last, arrival);
    }
  }
  if (!std::exchange(node.report_planned, true))
    sim_.jobs.add_at(last + sim_.options.image_report, {Job::What::images, found->first});
  return last - now;
}

Task<void> NodePlayer::make(Job job) {
  const std::string name = node_name(job.number);
  json::array images;
  if (sim_.options.catalog)
    images = images::images_status(sim_.options.catalog->present_on(name), sim_.options.max_images);
  const json::value node = new_node(name, node_address(++addresses_), sim_.options.shape,
                                    std::move(images), sim_.clock.wall());
  const kube::ObjectPath path{.ns = "", .name = ""};
  auto made = co_await sim_.api.create(kube::resources::nodes, path, node);
  if (!made && made.error().code != Code::already_exists) {
    sim_.jobs.note_failure("cannot create a simulated node", name, made.error());
    sim_.jobs.add(std::move(job), Jobs::kRetry);
    co_return;
  }
  ++sim_.stats.nodes_made;
}

Task<void> NodePlayer::renew_lease(Job job) {
  auto found = nodes_.find(job.key);
  const auto node = objects_.find(job.key);
  if (found == nodes_.end() || !node) co_return;  // renewals end with the node
  kube::ObjectPath path{.ns = "kube-node-lease", .name = job.key};
  Result<void> written = fail(Code::not_found, "");
  if (found->second.has_lease)
    written =
        co_await sim_.api.patch(kube::resources::leases, path, renewed_lease(sim_.clock.wall()));
  if (!written && written.error().code == Code::not_found) {
    path.name.clear();
    written = co_await sim_.api.create(kube::resources::leases, path,
                                       new_lease(*node, sim_.clock.wall()));
  }
  const bool exists = written || written.error().code == Code::already_exists;
  if (auto still = nodes_.find(job.key); still != nodes_.end()) still->second.has_lease = exists;
  if (!exists) ++sim_.stats.failures;
  ++sim_.stats.leases;
  // A lease that existed before is renewed at once: it may be old.
  sim_.jobs.add(std::move(job), written ? sim_.options.lease_interval : Jobs::kRetry);
}

Task<void> NodePlayer::report_images(Job job) {
  auto found = nodes_.find(job.key);
  if (found == nodes_.end() || !found->second.images) co_return;
  found->second.report_planned = false;
  inventories_.plan(job.key);
  json::array list = images::images_status(found->second.images->arrived(sim_.clock.steady()),
                                           sim_.options.max_images);
  json::object status{{"images", std::move(list)}};
  const json::value patch = json::object{{"status", std::move(status)}};
  kube::ObjectPath path{.ns = "", .name = job.key};
  // If the request failed, the next pull reports these images too.
  (void)co_await sim_.api.patch_status(kube::resources::nodes, std::move(path), patch);
}

Task<void> NodePlayer::act(Job job) {
  auto found = nodes_.find(job.key);
  const auto node = objects_.find(job.key);
  if (found == nodes_.end() || !node || found->second.generation != job.number) co_return;
  if (has_stages_ && !found->second.looked) {
    auto object = co_await sim_.api.get(kube::resources::nodes, node->meta);
    found = nodes_.find(job.key);
    if (found == nodes_.end() || found->second.generation != job.number) co_return;
    if (!stages_.choose(job, found->second, kube::resources::nodes.kind, object)) co_return;
  }
  SimNode& sim = found->second;
  sim.acted_on = node->meta.resource_version;
  auto done = co_await change(node, sim.stage, sim.address);
  finish(std::move(job), done);
}

Task<Result<void>> NodePlayer::change(std::shared_ptr<const kube::Node> node, const Stage* stage,
                                      std::string address) {
  if (stage != nullptr) {
    Substitutions with{format_rfc3339(sim_.clock.wall()), node->meta.name, node->meta.name, ""};
    co_return co_await stages_.apply(*stage, kube::resources::nodes, node->meta, std::move(with));
  }
  if (is_ready(*node)) co_return Result<void>();
  const json::value patch = ready_status(*node, address, sim_.options.shape, sim_.clock.wall());
  kube::ObjectPath path{.ns = "", .name = node->meta.name};
  co_return co_await sim_.api.patch_status(kube::resources::nodes, std::move(path), patch);
}

void NodePlayer::finish(Job job, const Result<void>& done) {
  auto found = nodes_.find(job.key);
  if (found == nodes_.end() || found->second.generation != job.number) return;
  SimNode& sim = found->second;
  Jobs::settle(sim);
  if (!done) sim_.jobs.retry(std::move(job), sim, done.error());
  if (const auto node = objects_.find(found->first); node && !sim.pending) plan_one(*node, sim);
}

}  // namespace plim::local::sim
