#include <algorithm>
#include <utility>

#include "base/rfc3339.hpp"
#include "local/sim/simulation.hpp"

namespace plim::local::sim {
namespace {

// A shorter wait is not worth a request of its own to tell that containers are being created.
constexpr Nanos kWorthTelling = std::chrono::seconds(2);

}  // namespace

void Simulation::see_pod(const kube::Pod& pod) {
  const std::string_view on = pod.spec.node_name.view();
  const std::string key = kube::object_key(pod.meta);
  if (on.empty() || nodes.find(on) == nodes.end()) {
    if (!on.empty()) pods.erase(key);
    return;
  }
  auto [place, added] = pods.try_emplace(key);
  SimPod& sim = place->second;
  if (sim.uid != pod.meta.uid) {
    sim = SimPod();
    sim.uid = pod.meta.uid;
    sim.ip = pod.status.pod_ip;
  }
  plan_pod(pod, key, sim);
}

void Simulation::plan_pod(const kube::Pod& pod, const std::string& key, SimPod& sim) {
  if (sim.acted_on == pod.meta.resource_version) return;
  const bool deleted = pod.meta.deleted.has_value();
  if (pod_stages) {
    // Every change may bring another stage into play.
    if (sim.pending && !sim.looked) return;
    settle(sim);
    push({What::pod, key}, sim, Nanos::zero());
    return;
  }
  const bool silent = pod.status.phase.view() == "Running" && is_thought_silent(pod);
  const PodStep urgent = deleted ? PodStep::remove : silent ? PodStep::recover : sim.step;
  if (sim.pending && sim.step == urgent) return;
  plan_built_in(pod, key, sim);
}

void Simulation::plan_built_in(const kube::Pod& pod, const std::string& key, SimPod& sim) {
  const SimWish wish = wish_of(pod);
  const NextStep next = next_step(pod, wish, clock.wall());
  sim.pending = false;
  if (next.step == PodStep::none) return;
  Nanos after = next.after;
  if (next.step == PodStep::start) {
    if (!sim.starts) sim.starts = clock.steady() + after;
    after = start_wait(pod, sim);
    const bool tell = after > kWorthTelling || !sim.trouble.empty();
    if (tell && !pod.status.started) after = Nanos::zero();
    if (!sim.trouble.empty() && pod.status.started) return;  // told already
  } else if (next.step == PodStep::finish && sim.began) {
    after = *sim.began + *wish.duration - clock.steady();
  }
  sim.step = next.step;
  push({What::pod, key}, sim, after);
}

Nanos Simulation::start_wait(const kube::Pod& pod, SimPod& sim) {
  const Nanos images = pull(pod, sim);
  const Nanos asked = sim.starts ? *sim.starts - clock.steady() : Nanos::zero();
  return std::max({Nanos::zero(), asked, images});
}

// How long until all images are there; the slowest of them counts.
Nanos Simulation::pull(const kube::Pod& pod, SimPod& sim) {
  sim.trouble.clear();
  auto found = nodes.find(pod.spec.node_name.view());
  if (!options.catalog || found == nodes.end()) return Nanos::zero();
  SimNode& node = found->second;
  if (!node.images) node.images = std::make_unique<SimImages>();
  const SteadyTime now = clock.steady();
  SteadyTime last = now;
  for (const auto* list : {&pod.spec.init_containers, &pod.spec.containers}) {
    for (const kube::Container& container : *list) {
      auto arrival = node.images->pull(container.image.view(), catalog, options.pulls, now);
      if (!arrival) {
        sim.trouble = arrival.error().message;
        return Nanos::zero();
      }
      last = std::max(last, *arrival);
    }
  }
  if (!std::exchange(node.report_planned, true))
    schedule.add(last + options.image_report, {What::images, found->first});
  return last - now;
}

Task<void> Simulation::act_on_pod(Job job) {
  auto found = pods.find(job.key);
  const PodPointer pod = pods_seen.store().find(job.key);
  if (found == pods.end() || !pod || found->second.generation != job.number) co_return;
  if (pod_stages && !found->second.looked) {
    const bool waits = co_await look_for_stage(job, kube::resources::pods, pod->meta);
    found = pods.find(job.key);
    if (waits || found == pods.end() || found->second.generation != job.number) co_return;
    if (!found->second.stage) {
      plan_built_in(*pod, job.key, found->second);
      co_return;
    }
  }
  SimPod& sim = found->second;
  sim.acted_on = pod->meta.resource_version;
  Result<void> done;
  if (sim.stage) {
    Substitutions with{format_rfc3339(clock.wall()), pod->meta.name,
                       std::string(pod->spec.node_name.view()), ip_of(sim)};
    const Stage& stage = *sim.stage;
    done = co_await apply_stage(stage, kube::resources::pods, pod->meta, std::move(with));
  } else if (sim.step == PodStep::remove) {
    done = co_await remove(kube::resources::pods, pod->meta);
  } else {
    json::value patch = status_patch(*pod, sim);
    kube::ObjectPath path{std::string(pod->meta.ns.view()), pod->meta.name, "status"};
    auto written = co_await write_patch(kube::resources::pods, path, patch);
    note(written);
    if (!written) done = written.error();
  }
  finish_pod(std::move(job), done);
}

void Simulation::finish_pod(Job job, const Result<void>& done) {
  auto found = pods.find(job.key);
  if (found == pods.end() || found->second.generation != job.number) return;
  SimPod& sim = found->second;
  const std::string key = job.key;
  settle(sim);
  if (!done) retry(std::move(job), sim, done.error());
  const PodPointer pod = pods_seen.store().find(key);
  if (pod && !sim.pending) plan_pod(*pod, key, sim);
}

json::value Simulation::status_patch(const kube::Pod& pod, SimPod& sim) {
  const WallTime now = clock.wall();
  auto node = nodes.find(pod.spec.node_name.view());
  PodPlace place{.host_ip = node == nodes.end() ? "" : node->second.address, .pod_ip = ""};
  place.pod_ip = pod.spec.host_network ? place.host_ip : ip_of(sim);
  switch (sim.step) {
    case PodStep::finish:
      sim.began = clock.steady();  // of the next run, if there is one at once
      return finished_status(pod, wish_of(pod), now);
    case PodStep::restart:
      sim.began = clock.steady();
      return restarted_status(pod, now);
    case PodStep::recover:
      return recovered_status(pod, now);
    case PodStep::start:
    case PodStep::none:
    case PodStep::remove:
      break;
  }
  const bool waits = start_wait(pod, sim) > kWorthTelling;
  if (!sim.trouble.empty()) return creating_status(pod, place, now, "ErrImagePull", sim.trouble);
  if (waits && !pod.status.started) return creating_status(pod, place, now);
  sim.began = clock.steady();
  return running_status(pod, place, now);
}

const std::string& Simulation::ip_of(SimPod& sim) {
  if (sim.ip.empty()) sim.ip = pod_address(++addresses_of_pods);
  return sim.ip;
}

std::optional<node::NodeUsage> Simulation::usage(std::string_view node) const {
  if (nodes.find(node) == nodes.end()) return std::nullopt;
  node::NodeUsage out{.at = clock.wall()};
  for (const auto& pod : pods_seen.store().indexed(by_node, node)) {
    if (pod->status.phase.view() != "Running") continue;
    const SimWish wish = wish_of(*pod);
    node::PodUsage used{.ns = std::string(pod->meta.ns.view()),
                        .name = pod->meta.name,
                        .uid = pod->meta.uid,
                        .started = pod->status.started};
    used.nano_cores = static_cast<std::uint64_t>(wish.milli_cpu) * 1'000'000;
    const Nanos age = pod->status.started ? out.at - *pod->status.started : Nanos::zero();
    const double seconds = std::max(0.0, std::chrono::duration<double>(age).count());
    used.used.cpu_ns = static_cast<std::uint64_t>(seconds * static_cast<double>(used.nano_cores));
    used.used.memory_bytes = used.used.working_set_bytes = used.used.rss_bytes =
        static_cast<std::uint64_t>(wish.memory_bytes);
    if (!pod->spec.containers.empty()) {
      // All of it in the first container: which one is of no interest in a simulation.
      node::ContainerUsage first{.name = std::string(pod->spec.containers[0].name.view()),
                                 .id = "",
                                 .image = std::string(pod->spec.containers[0].image.view()),
                                 .started = used.started,
                                 .used = used.used,
                                 .nano_cores = used.nano_cores};
      used.containers.push_back(std::move(first));
    }
    out.nano_cores += used.nano_cores;
    out.used.cpu_ns += used.used.cpu_ns;
    out.used.memory_bytes += used.used.memory_bytes;
    out.used.working_set_bytes += used.used.working_set_bytes;
    out.used.rss_bytes += used.used.rss_bytes;
    out.pods.push_back(std::move(used));
  }
  return out;
}

}  // namespace plim::local::sim
