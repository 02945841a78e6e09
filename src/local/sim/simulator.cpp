#include "local/sim/simulator.hpp"

#include <algorithm>
#include <utility>

#include "kube/requests.hpp"
#include "kube/status.hpp"
#include "local/sim/simulation.hpp"

namespace plim::local::sim {

Simulation::Simulation(const Executor& loop, std::shared_ptr<kube::Client> api, Clock& time,
                       SimulatorOptions how, Random& chance)
    : client(std::move(api)),
      clock(time),
      options(std::move(how)),
      random(chance),
      catalog(options.catalog),
      pods_seen(loop, client, kube::resources::pods, kube::pod_codec(pool), {}, clock, random),
      nodes_seen(loop, client, kube::resources::nodes, kube::node_codec(pool), {}, clock, random),
      recorder(loop, client, {.component = "plimsoll-sim"}, clock),
      schedule(loop, clock, options.at_once, [this](Job job) { return run(std::move(job)); }),
      progress(loop) {
  by_node = pods_seen.add_index([](const kube::Pod& pod) {
    return std::vector<std::string>{std::string(pod.spec.node_name.view())};
  });
  pod_stages = has_stages("Pod");
  node_stages = has_stages("Node");
}

bool Simulation::has_stages(std::string_view kind) const {
  return std::ranges::any_of(options.stages, [&](const Stage& s) { return s.kind == kind; });
}

void Simulation::start() {
  nodes_seen.add_handlers(
      {.on_add = [this](const NodePointer& node) { see_node(*node); },
       .on_update = [this](const NodePointer&, const NodePointer& node) { see_node(*node); },
       .on_delete = [this](const NodePointer& node) { nodes.erase(node->meta.name); }});
  pods_seen.add_handlers(
      {.on_add = [this](const PodPointer& pod) { see_pod(*pod); },
       .on_update = [this](const PodPointer&, const PodPointer& pod) { see_pod(*pod); },
       .on_delete = [this](const PodPointer& pod) { pods.erase(kube::object_key(pod->meta)); }});
  schedule.start();
  recorder.start();
  nodes_seen.start();
  pods_seen.start();
}

Task<Result<void>> Simulation::make_nodes() {
  co_await nodes_seen.wait_synced();
  co_await pods_seen.wait_synced();
  to_make = static_cast<std::uint64_t>(std::max(0, options.nodes));
  for (std::uint32_t i = 1; i <= to_make; ++i)
    schedule.add(clock.steady(), {What::make_node, {}, i});
  while (stats.nodes_made < to_make) co_await progress.wait();
  co_return Result<void>();
}

Task<void> Simulation::stop() {
  co_await pods_seen.stop();
  co_await nodes_seen.stop();
  co_await schedule.stop();
  co_await recorder.stop();
}

void Simulation::push(Job job, Tracked& tracked, Nanos after) {
  job.number = ++tracked.generation;
  tracked.pending = true;
  schedule.add(clock.steady() + after, std::move(job));
}

Task<void> Simulation::run(Job job) {
  switch (job.what) {
    case What::make_node:
      co_await make_node(job);
      break;
    case What::node:
      co_await act_on_node(job);
      break;
    case What::lease:
      co_await renew_lease(job);
      break;
    case What::images:
      co_await report_images(job);
      break;
    case What::inventory:
      co_await report_inventory(job);
      break;
    case What::kinds:
      co_await look_for_kinds();
      break;
    case What::pod:
      co_await act_on_pod(job);
      break;
  }
}

// The job is done; what comes next is decided by what the object then looks like.
void Simulation::settle(Tracked& tracked) {
  tracked.pending = false;
  tracked.looked = false;
  tracked.stage = nullptr;
  tracked.step = PodStep::none;
}

void Simulation::retry(Job job, Tracked& tracked, const Error& error) {
  // Gone, or changed meanwhile: the informer tells.
  if (error.code == Code::not_found || error.code == Code::conflict) return;
  ++stats.failures;
  log_.write(log::Level::warn, "local", "cannot write what is simulated",
             {{"object", job.key}, {"error", error}});
  tracked.acted_on.clear();
  if (job.what == What::pod)
    if (const PodPointer pod = pods_seen.store().find(job.key))
      tracked.step = next_step(*pod, wish_of(*pod), clock.wall()).step;
  push(std::move(job), tracked, kRetry);
}

void Simulation::again_later(Job job, const Error& error) {
  ++stats.failures;
  log_.write(log::Level::warn, "local", "cannot make a simulated node", {{"error", error}});
  schedule.add(clock.steady() + kRetry, std::move(job));
}

Task<Result<void>> Simulation::send(Result<net::Request> request) {
  static const net::CallOptions kAsUsual;
  if (!request) co_return std::move(request).error();
  PLIM_CO_TRY(net::Response answer, co_await client->raw(std::move(*request), kAsUsual));
  if (answer.status / 100 == 2) co_return Result<void>();
  co_return kube::error_from_answer(answer.status, answer.headers, answer.body);
}

Task<Result<void>> Simulation::write_new(const kube::Resource& resource,
                                         const kube::ObjectPath& path, const json::value& object) {
  return send(kube::create_request(resource, path, object, kube::kWriteDefaults));
}

Task<Result<void>> Simulation::write_patch(const kube::Resource& resource,
                                           const kube::ObjectPath& path, const json::value& patch) {
  return send(
      kube::patch_request(resource, path, kube::PatchType::merge, patch, kube::kWriteDefaults));
}

void Simulation::note(const Result<void>& written) {
  if (written) ++stats.patches;
}

Simulator::Simulator(const Executor& loop, std::shared_ptr<kube::Client> client, Clock& clock,
                     SimulatorOptions options, Random& random)
    : impl_(std::make_unique<Simulation>(loop, std::move(client), clock, std::move(options),
                                         random)) {}

Simulator::~Simulator() = default;

Task<Result<void>> Simulator::start() {
  impl_->start();
  return impl_->make_nodes();
}

Task<void> Simulator::stop() {
  return impl_->stop();
}

const Simulator::Stats& Simulator::stats() const {
  return impl_->stats;
}

std::size_t Simulator::nodes() const {
  return impl_->nodes.size();
}

std::optional<node::NodeUsage> Simulator::usage(std::string_view node) const {
  return impl_->usage(node);
}

}  // namespace plim::local::sim
