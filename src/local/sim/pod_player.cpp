#include "local/sim/pod_player.hpp"

#include <algorithm>
#include <utility>

#include "base/rfc3339.hpp"

namespace plim::local::sim {
namespace {

// A shorter wait is not worth a request that shows ContainerCreating.
constexpr Nanos kWorthShowing = std::chrono::seconds(2);

}  // namespace

PodPlayer::PodPlayer(const SimContext& context, const kube::Store<kube::Pod>& objects,
                     NodePlayer& nodes, StageRunner& stages)
    : sim_(context),
      objects_(objects),
      nodes_(nodes),
      stages_(stages),
      has_stages_(stages.has_stages("Pod")) {}

void PodPlayer::see(const kube::Pod& pod) {
  const std::string_view on = pod.spec.node_name.view();
  const std::string key = kube::object_key(pod.meta);
  if (on.empty() || !nodes_.plays(on)) {
    if (!on.empty()) pods_.erase(key);
    return;
  }
  SimPod& sim = pods_.try_emplace(key).first->second;
  if (sim.uid != pod.meta.uid) {
    sim = SimPod();
    sim.uid = pod.meta.uid;
    sim.ip = pod.status.pod_ip;
  }
  plan(pod, key, sim);
}

void PodPlayer::plan(const kube::Pod& pod, const std::string& key, SimPod& sim) {
  if (sim.acted_on == pod.meta.resource_version) return;
  const bool deleted = pod.meta.deleted.has_value();
  if (has_stages_) {
    // After every change another stage may match.
    if (sim.pending && !sim.looked) return;
    Jobs::settle(sim);
    sim_.jobs.push({Job::What::pod, key}, sim, Nanos::zero());
    return;
  }
  const bool silent = pod.status.phase.view() == "Running" && is_thought_silent(pod);
  const PodStep urgent = deleted                ? PodStep::remove
                         : silent               ? PodStep::recover
                         : is_resized(pod, sim) ? PodStep::resize
                                                : sim.step;
  if (sim.pending && sim.step == urgent) return;
  plan_built_in(pod, key, sim);
}

void PodPlayer::plan_built_in(const kube::Pod& pod, const std::string& key, SimPod& sim) {
  const SimWish wish = wish_of(pod);
  NextStep next = next_step(pod, wish, sim_.clock.wall());
  if (is_resized(pod, sim) && next.step != PodStep::recover)
    next = {PodStep::resize, Nanos::zero()};
  sim.pending = false;
  if (next.step == PodStep::none) return;
  Nanos after = next.after;
  if (next.step == PodStep::start) {
    if (!sim.starts) sim.starts = sim_.clock.steady() + after;
    after = start_wait(pod, sim);
    const bool show = after > kWorthShowing || !sim.trouble.empty();
    if (show && !pod.status.started) after = Nanos::zero();
    if (!sim.trouble.empty() && pod.status.started) return;  // already in the status
  } else if (next.step == PodStep::finish && sim.began) {
    after = *sim.began + *wish.duration - sim_.clock.steady();
  }
  sim.step = next.step;
  sim_.jobs.push({Job::What::pod, key}, sim, after);
}

bool PodPlayer::is_resized(const kube::Pod& pod, const SimPod& sim) {
  return pod.status.phase.view() == "Running" && !pod.meta.deleted &&
         pod.meta.generation > sim.shown;
}

Nanos PodPlayer::start_wait(const kube::Pod& pod, SimPod& sim) {
  const auto images = nodes_.pull_images(pod);
  sim.trouble = images ? "" : images.error().message;
  const Nanos asked = sim.starts ? *sim.starts - sim_.clock.steady() : Nanos::zero();
  return std::max({Nanos::zero(), asked, images.value_or(Nanos::zero())});
}

Task<void> PodPlayer::act(Job job) {
  auto found = pods_.find(job.key);
  const auto pod = objects_.find(job.key);
  if (found == pods_.end() || !pod || found->second.generation != job.number) co_return;
  if (has_stages_ && !found->second.looked) {
    auto object = co_await sim_.api.get(kube::resources::pods, pod->meta);
    found = pods_.find(job.key);
    if (found == pods_.end() || found->second.generation != job.number) co_return;
    if (!stages_.choose(job, found->second, kube::resources::pods.kind, object)) co_return;
    if (found->second.stage == nullptr) {
      plan_built_in(*pod, job.key, found->second);
      co_return;
    }
  }
  SimPod& sim = found->second;
  sim.acted_on = pod->meta.resource_version;
  Result<void> done;
  if (sim.stage != nullptr) {
    Substitutions with{format_rfc3339(sim_.clock.wall()), pod->meta.name,
                       std::string(pod->spec.node_name.view()), ip_of(sim)};
    done = co_await stages_.apply(*sim.stage, kube::resources::pods, pod->meta, std::move(with));
  } else if (sim.step == PodStep::remove) {
    done = co_await sim_.api.remove(kube::resources::pods, pod->meta);
  } else {
    const json::value patch = status_patch(*pod, sim);
    kube::ObjectPath path = path_of(pod->meta);
    done = co_await sim_.api.patch_status(kube::resources::pods, std::move(path), patch);
  }
  finish(std::move(job), done);
}

void PodPlayer::finish(Job job, const Result<void>& done) {
  auto found = pods_.find(job.key);
  if (found == pods_.end() || found->second.generation != job.number) return;
  SimPod& sim = found->second;
  const auto pod = objects_.find(job.key);
  Jobs::settle(sim);
  if (!done && sim_.jobs.retry(std::move(job), sim, done.error()) && pod)
    sim.step = next_step(*pod, wish_of(*pod), sim_.clock.wall()).step;
  if (pod && !sim.pending) plan(*pod, found->first, sim);
}

json::value PodPlayer::status_patch(const kube::Pod& pod, SimPod& sim) {
  const WallTime now = sim_.clock.wall();
  PodPlace place{.host_ip = nodes_.host_ip_of(pod.spec.node_name.view()), .pod_ip = ""};
  place.pod_ip = pod.spec.host_network ? place.host_ip : ip_of(sim);
  switch (sim.step) {
    case PodStep::finish:
      sim.began = sim_.clock.steady();  // of the next run, if it starts at once
      return finished_status(pod, wish_of(pod), now);
    case PodStep::restart:
      sim.began = sim_.clock.steady();
      return restarted_status(pod, now);
    case PodStep::resize:
      sim.shown = pod.meta.generation;
      return resized_status(pod, now);
    case PodStep::recover:
      return recovered_status(pod, now);
    case PodStep::start:
    case PodStep::none:
    case PodStep::remove:
      break;
  }
  const bool waits = start_wait(pod, sim) > kWorthShowing;
  if (!sim.trouble.empty()) return creating_status(pod, place, now, "ErrImagePull", sim.trouble);
  if (waits && !pod.status.started) return creating_status(pod, place, now);
  sim.began = sim_.clock.steady();
  return running_status(pod, place, now);
}

const std::string& PodPlayer::ip_of(SimPod& sim) {
  if (sim.ip.empty()) sim.ip = pod_address(++addresses_);
  return sim.ip;
}

}  // namespace plim::local::sim
