#include "local/sim/simulator.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/event.hpp"
#include "base/log.hpp"
#include "base/rfc3339.hpp"
#include "kube/event_recorder.hpp"
#include "kube/informer.hpp"
#include "kube/store.hpp"
#include "local/sim/schedule.hpp"
#include "local/sim/sim_images.hpp"
#include "local/sim/sim_pod.hpp"

namespace plim::local::sim {
namespace {

constexpr Nanos kRetry = std::chrono::seconds(1);
// A shorter wait is not worth a request of its own to tell that containers are being created.
constexpr Nanos kWorthTelling = std::chrono::seconds(1);

std::string node_name(std::uint32_t number) {
  return fmt::format("sim-{}", number);
}

}  // namespace

struct Simulator::Impl {
  using PodPointer = std::shared_ptr<const kube::Pod>;
  using NodePointer = std::shared_ptr<const kube::Node>;

  enum class What : std::uint8_t { make_node, node, lease, images, pod };

  struct Job {
    What what;
    std::string key;
    std::uint32_t number = 0;  // of a node to make; else the generation it was meant for
  };

  // An object we may have something to do with.
  struct Tracked {
    std::string uid;
    std::string acted_on;          // the version our last write was based on
    std::uint32_t generation = 0;  // jobs of an earlier one are void
    PodStep step = PodStep::none;  // what the pending job will do
    const Stage* stage = nullptr;  // … or this
    bool pending = false;          // a job waits or runs
    bool looked = false;           // stages have been considered
  };

  struct SimPod : Tracked {
    std::string ip;
    std::string trouble;  // why its image cannot be pulled
    // Exact, where the status knows whole seconds only; not known after a restart of ours.
    std::optional<SteadyTime> starts = {}, began = {};
  };

  struct SimNode : Tracked {
    std::string address;
    bool has_lease = false;
    bool report_planned = false;
    std::unique_ptr<SimImages> images;
  };

  Impl(const Executor& loop, std::shared_ptr<kube::Client> api, Clock& time, SimulatorOptions how,
       Random& chance)
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

  bool has_stages(std::string_view kind) const {
    return std::ranges::any_of(options.stages, [&](const Stage& s) { return s.kind == kind; });
  }

  void start() {
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

  Task<Result<void>> make_nodes() {
    co_await nodes_seen.wait_synced();
    co_await pods_seen.wait_synced();
    to_make = static_cast<std::uint64_t>(std::max(0, options.nodes));
    for (std::uint32_t i = 1; i <= to_make; ++i)
      schedule.add(clock.steady(), {What::make_node, {}, i});
    while (stats.nodes_made < to_make) co_await progress.wait();
    co_return Result<void>();
  }

  Task<void> stop() {
    co_await pods_seen.stop();
    co_await nodes_seen.stop();
    co_await schedule.stop();
    co_await recorder.stop();
  }

  // Nodes.

  void see_node(const kube::Node& node) {
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
      // Spread, so that thousands of leases are not renewed in one burst.
      const auto first = static_cast<Nanos::rep>(
          static_cast<double>(options.lease_interval.count()) * random.unit());
      schedule.add(clock.steady() + Nanos(first), {What::lease, node.meta.name});
      for (const PodPointer& pod : pods_seen.store().indexed(by_node, node.meta.name))
        see_pod(*pod);
    }
    plan_node(node, sim);
  }

  void plan_node(const kube::Node& node, SimNode& sim) {
    if (sim.pending || sim.acted_on == node.meta.resource_version) return;
    if (!node_stages && is_ready(node)) return;
    push({What::node, node.meta.name}, sim, Nanos::zero());
  }

  // Pods.

  void see_pod(const kube::Pod& pod) {
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

  void plan_pod(const kube::Pod& pod, const std::string& key, SimPod& sim) {
    if (sim.acted_on == pod.meta.resource_version) return;
    const bool deleted = pod.meta.deleted.has_value();
    if (pod_stages) {
      // Every change may bring another stage into play.
      if (sim.pending && !sim.looked) return;
      settle(sim);
      push({What::pod, key}, sim, Nanos::zero());
      return;
    }
    if (sim.pending && !(deleted && sim.step != PodStep::remove)) return;
    plan_built_in(pod, key, sim);
  }

  void plan_built_in(const kube::Pod& pod, const std::string& key, SimPod& sim) {
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

  Nanos start_wait(const kube::Pod& pod, SimPod& sim) {
    const Nanos images = pull(pod, sim);
    const Nanos asked = sim.starts ? *sim.starts - clock.steady() : Nanos::zero();
    return std::max({Nanos::zero(), asked, images});
  }

  // How long until all images are there; the slowest of them counts.
  Nanos pull(const kube::Pod& pod, SimPod& sim) {
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

  // Jobs.

  void push(Job job, Tracked& tracked, Nanos after) {
    job.number = ++tracked.generation;
    tracked.pending = true;
    schedule.add(clock.steady() + after, std::move(job));
  }

  Task<void> run(Job job) {
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
      case What::pod:
        co_await act_on_pod(job);
        break;
    }
  }

  Task<void> make_node(Job job) {
    const std::string name = node_name(job.number);
    json::value node =
        new_node(name, node_address(++addresses_of_nodes), options.shape, clock.wall());
    kube::ObjectPath path{.ns = "", .name = ""};
    auto made = co_await client->create(kube::resources::nodes, std::move(path), std::move(node));
    if (!made && made.error().code != Code::already_exists) {
      again_later(std::move(job), made.error());
      co_return;
    }
    ++stats.nodes_made;
    progress.notify();
  }

  Task<void> renew_lease(Job job) {
    auto found = nodes.find(job.key);
    const NodePointer node = nodes_seen.store().find(job.key);
    if (found == nodes.end() || !node) co_return;  // the chain of renewals ends with the node
    kube::ObjectPath path{.ns = "kube-node-lease", .name = job.key};
    Result<json::value> written = fail(Code::not_found, "");
    if (found->second.has_lease)
      written = co_await client->patch(kube::resources::leases, path, kube::PatchType::merge,
                                       renewed_lease(clock.wall()));
    if (!written && written.error().code == Code::not_found) {
      path.name.clear();
      written =
          co_await client->create(kube::resources::leases, path, new_lease(*node, clock.wall()));
    }
    const bool there = written || written.error().code == Code::already_exists;
    if (auto still = nodes.find(job.key); still != nodes.end()) still->second.has_lease = there;
    if (!written && !there) ++stats.failures;
    ++stats.leases;
    // One that was there before is renewed at once: it may be old.
    schedule.add(clock.steady() + (written ? options.lease_interval : kRetry), std::move(job));
  }

  Task<void> report_images(Job job) {
    auto found = nodes.find(job.key);
    if (found == nodes.end() || !found->second.images) co_return;
    found->second.report_planned = false;
    json::array list =
        images_status(found->second.images->arrived(clock.steady()), options.max_images);
    json::object status{{"images", std::move(list)}};
    json::value patch = json::object{{"status", std::move(status)}};
    kube::ObjectPath path{.ns = "", .name = job.key, .subresource = "status"};
    auto written = co_await client->patch(kube::resources::nodes, std::move(path),
                                          kube::PatchType::merge, std::move(patch));
    note(written);
  }

  Task<void> act_on_node(Job job) {
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
    auto written = co_await client->patch(kube::resources::nodes, std::move(path),
                                          kube::PatchType::merge, std::move(patch));
    note(written);
    Result<void> done;
    if (!written) done = written.error();
    finish_node(std::move(job), done);
  }

  void finish_node(Job job, const Result<void>& done) {
    auto found = nodes.find(job.key);
    if (found == nodes.end() || found->second.generation != job.number) return;
    settle(found->second);
    if (!done) retry(std::move(job), found->second, done.error());
    if (const NodePointer node = nodes_seen.store().find(found->first);
        node && !found->second.pending)
      plan_node(*node, found->second);
  }

  Task<void> act_on_pod(Job job) {
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
      auto written = co_await client->patch(kube::resources::pods, std::move(path),
                                            kube::PatchType::merge, std::move(patch));
      note(written);
      if (!written) done = written.error();
    }
    finish_pod(std::move(job), done);
  }

  void finish_pod(Job job, const Result<void>& done) {
    auto found = pods.find(job.key);
    if (found == pods.end() || found->second.generation != job.number) return;
    SimPod& sim = found->second;
    const std::string key = job.key;
    settle(sim);
    if (!done) retry(std::move(job), sim, done.error());
    const PodPointer pod = pods_seen.store().find(key);
    if (pod && !sim.pending) plan_pod(*pod, key, sim);
  }

  json::value status_patch(const kube::Pod& pod, SimPod& sim) {
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

  const std::string& ip_of(SimPod& sim) {
    if (sim.ip.empty()) sim.ip = pod_address(++addresses_of_pods);
    return sim.ip;
  }

  // The job is done; what comes next is decided by what the object then looks like.
  static void settle(Tracked& tracked) {
    tracked.pending = false;
    tracked.looked = false;
    tracked.stage = nullptr;
    tracked.step = PodStep::none;
  }

  void retry(Job job, Tracked& tracked, const Error& error) {
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

  void again_later(Job job, const Error& error) {
    ++stats.failures;
    log_.write(log::Level::warn, "local", "cannot make a simulated node", {{"error", error}});
    schedule.add(clock.steady() + kRetry, std::move(job));
  }

  void note(const Result<json::value>& written) {
    if (written) ++stats.patches;
  }

  // Stages.

  // True: the job has been put off, or is void. The whole object is needed, as a stage may look at
  // any field.
  Task<bool> look_for_stage(Job job, kube::Resource resource, kube::ObjectMeta meta) {
    kube::ObjectPath path{.ns = std::string(meta.ns.view()), .name = meta.name};
    auto object = co_await client->get(resource, std::move(path));
    Tracked* tracked = find_tracked(job);
    if (!tracked || tracked->generation != job.number) co_return true;
    if (!object) {
      settle(*tracked);
      co_return true;
    }
    tracked->looked = true;
    tracked->stage = choose_stage(options.stages, resource.kind, *object, random);
    if (!tracked->stage) co_return false;
    const Nanos wait = tracked->stage->wait(random);
    if (wait == Nanos::zero()) co_return false;
    push(std::move(job), *tracked, wait);
    co_return true;
  }

  Tracked* find_tracked(const Job& job) {
    if (job.what == What::pod) {
      auto found = pods.find(job.key);
      return found == pods.end() ? nullptr : &found->second;
    }
    auto found = nodes.find(job.key);
    return found == nodes.end() ? nullptr : &found->second;
  }

  Task<Result<void>> apply_stage(Stage stage, kube::Resource resource, kube::ObjectMeta meta,
                                 Substitutions with) {
    kube::ObjectPath path{.ns = std::string(meta.ns.view()), .name = meta.name};
    if (stage.event) {
      kube::EventNote event{
          .about = {kube::api_version(resource), resource.kind, path.ns, path.name, meta.uid},
          .reason = stage.event->reason,
          .message = substitute(stage.event->message, with)};
      if (stage.event->type == "Warning") event.type = kube::EventNote::Type::warning;
      recorder.record(event);
    }
    if (!stage.add_finalizers.empty() || !stage.remove_finalizers.empty())
      PLIM_CO_CHECK(co_await change_finalizers(stage, resource, path));
    if (stage.status.is_object()) {
      json::object about{{"uid", meta.uid}};
      json::value patch =
          json::object{{"metadata", std::move(about)}, {"status", substitute(stage.status, with)}};
      kube::ObjectPath status = path;
      status.subresource = "status";
      auto written = co_await client->patch(resource, std::move(status), kube::PatchType::merge,
                                            std::move(patch));
      note(written);
      if (!written) co_return written.error();
    }
    if (stage.remove) PLIM_CO_CHECK(co_await remove(resource, meta));
    co_return Result<void>();
  }

  Task<Result<void>> change_finalizers(Stage stage, kube::Resource resource,
                                       kube::ObjectPath path) {
    PLIM_CO_TRY(json::value object, co_await client->get(resource, path));
    std::vector<std::string> list;
    if (const json::value* old = find(object, {"metadata", "finalizers"}); old && old->is_array())
      for (const json::value& item : old->get_array())
        if (item.is_string()) list.emplace_back(item.get_string());
    std::erase_if(list, [&](const std::string& name) {
      return std::ranges::find(stage.remove_finalizers, name) != stage.remove_finalizers.end();
    });
    for (const std::string& name : stage.add_finalizers)
      if (std::ranges::find(list, name) == list.end()) list.push_back(name);
    json::object metadata{{"finalizers", json::array(list.begin(), list.end())},
                          {"resourceVersion", text_at(object, {"metadata", "resourceVersion"})}};
    json::value patch = json::object{{"metadata", std::move(metadata)}};
    auto written =
        co_await client->patch(resource, std::move(path), kube::PatchType::merge, std::move(patch));
    if (!written) co_return written.error();
    co_return Result<void>();
  }

  Task<Result<void>> remove(kube::Resource resource, kube::ObjectMeta meta) {
    kube::DeleteOptions how{.grace_seconds = 0, .uid = meta.uid};
    kube::ObjectPath path{.ns = std::string(meta.ns.view()), .name = meta.name};
    auto removed = co_await client->remove(std::move(resource), std::move(path), std::move(how));
    if (!removed) co_return removed.error();
    ++stats.removed;
    co_return Result<void>();
  }

  std::shared_ptr<kube::Client> client;
  Clock& clock;
  SimulatorOptions options;
  Random& random;
  SharedCatalog catalog;
  kube::InternPool pool;
  kube::Informer<kube::Pod> pods_seen;
  kube::Informer<kube::Node> nodes_seen;
  kube::EventRecorder recorder;
  Schedule<Job> schedule;
  Event progress;
  std::size_t by_node = 0;
  bool pod_stages = false, node_stages = false;
  kube::TextMap<SimNode> nodes;  // by name
  kube::TextMap<SimPod> pods;    // by namespace/name
  std::uint32_t addresses_of_nodes = 0, addresses_of_pods = 0;
  std::uint64_t to_make = 0;
  Stats stats;
  log::Throttle log_;
};

Simulator::Simulator(const Executor& loop, std::shared_ptr<kube::Client> client, Clock& clock,
                     SimulatorOptions options, Random& random)
    : impl_(std::make_unique<Impl>(loop, std::move(client), clock, std::move(options), random)) {}

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

std::optional<NodeUsage> Simulator::usage(std::string_view node) const {
  if (impl_->nodes.find(node) == impl_->nodes.end()) return std::nullopt;
  NodeUsage out{.at = impl_->clock.wall()};
  for (const auto& pod : impl_->pods_seen.store().indexed(impl_->by_node, node)) {
    if (pod->status.phase.view() != "Running") continue;
    const SimWish wish = wish_of(*pod);
    PodUsage used{.ns = std::string(pod->meta.ns.view()),
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
      ContainerUsage first{.name = std::string(pod->spec.containers[0].name.view()),
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
