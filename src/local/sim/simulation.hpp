// The state of a simulation and what it does with it. For .cpp files of this folder only.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/event.hpp"
#include "base/log.hpp"
#include "kube/event_recorder.hpp"
#include "kube/informer.hpp"
#include "kube/store.hpp"
#include "local/sim/schedule.hpp"
#include "local/sim/sim_images.hpp"
#include "local/sim/sim_pod.hpp"
#include "local/sim/simulator.hpp"
#include "local/sim/stage.hpp"

namespace plim::local::sim {

inline constexpr Nanos kRetry = std::chrono::seconds(1);

// Informers tell what there is, the schedule when to do something about it; each job ends in at
// most a few requests. An object is acted on once per version of it.
struct Simulation {
  using PodPointer = std::shared_ptr<const kube::Pod>;
  using NodePointer = std::shared_ptr<const kube::Node>;

  enum class What : std::uint8_t { make_node, node, lease, images, inventory, kinds, pod };

  struct Job {
    What what;
    std::string key;
    // Of a node to make; of the report to be repeated; else the generation it was meant for.
    std::uint32_t number = 0;
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
    std::uint32_t reports = 0;  // of its inventory
    std::int64_t contents = 0;  // how often they differed from the one before
    std::size_t told = 0;       // a hash of the last one, without its time
    bool telling = false;       // a report is being written
    bool tell_again = false;    // … and is out of date already
  };

  Simulation(const Executor& loop, std::shared_ptr<kube::Client> api, Clock& time,
             SimulatorOptions how, Random& chance);

  bool has_stages(std::string_view kind) const;
  void start();
  Task<Result<void>> make_nodes();
  Task<void> stop();
  void push(Job job, Tracked& tracked, Nanos after);
  Task<void> run(Job job);
  static void settle(Tracked& tracked);
  void retry(Job job, Tracked& tracked, const Error& error);
  void again_later(Job job, const Error& error);
  // Writes whose answer nobody reads, and which therefore is not parsed.
  Task<Result<void>> send(Result<net::Request> request);
  Task<Result<void>> write_new(const kube::Resource& resource, const kube::ObjectPath& path,
                               const json::value& object);
  Task<Result<void>> write_patch(const kube::Resource& resource, const kube::ObjectPath& path,
                                 const json::value& patch);
  void note(const Result<void>& written);

  // simulation_nodes.cpp
  void see_node(const kube::Node& node);
  void take_images(const kube::Node& node, SimNode& sim);
  void plan_node(const kube::Node& node, SimNode& sim);
  Task<void> make_node(Job job);
  Task<void> renew_lease(Job job);
  Task<void> report_images(Job job);
  Task<void> act_on_node(Job job);
  void finish_node(Job job, const Result<void>& done);

  // simulation_inventory.cpp
  void plan_inventory(const std::string& node);
  Task<void> report_inventory(Job job);
  Task<Result<void>> write_inventory(std::string node, std::string uid,
                                     loop::ImageInventory inventory);
  Task<void> look_for_kinds();

  // simulation_pods.cpp
  void see_pod(const kube::Pod& pod);
  void plan_pod(const kube::Pod& pod, const std::string& key, SimPod& sim);
  void plan_built_in(const kube::Pod& pod, const std::string& key, SimPod& sim);
  Nanos start_wait(const kube::Pod& pod, SimPod& sim);
  Nanos pull(const kube::Pod& pod, SimPod& sim);
  Task<void> act_on_pod(Job job);
  void finish_pod(Job job, const Result<void>& done);
  json::value status_patch(const kube::Pod& pod, SimPod& sim);
  const std::string& ip_of(SimPod& sim);
  std::optional<node::NodeUsage> usage(std::string_view node) const;

  // simulation_stages.cpp
  Task<bool> look_for_stage(Job job, kube::Resource resource, kube::ObjectMeta meta);
  Tracked* find_tracked(const Job& job);
  Task<Result<void>> apply_stage(Stage stage, kube::Resource resource, kube::ObjectMeta meta,
                                 Substitutions with);
  Task<Result<void>> change_finalizers(Stage stage, kube::Resource resource, kube::ObjectPath path);
  Task<Result<void>> remove(kube::Resource resource, kube::ObjectMeta meta);

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
  // Whether the API server knows NodeImageInventory, as far as we know; it may learn it later.
  bool has_inventories = true, looking_for_kinds = false;
  Simulator::Stats stats;
  log::Throttle log_;
};

}  // namespace plim::local::sim
