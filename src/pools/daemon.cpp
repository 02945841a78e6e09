#include "pools/daemon.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/file_watch.hpp"
#include "base/files.hpp"
#include "base/json.hpp"
#include "base/quantity.hpp"
#include "base/text.hpp"
#include "pools/pool_view.hpp"
#include "pools/static_manager.hpp"

namespace plim::pools {
namespace {

using namespace std::chrono_literals;

constexpr Nanos kBetween = 20ms;  // between checks; the kubelet answers 100 requests per second
constexpr Nanos kYoungLook = 25ms;
constexpr Nanos kFirstRetry = 200ms;
constexpr Nanos kLongestRetry = 5s;
constexpr Nanos kOnlineLook = 1s;
constexpr Nanos kConfigSettle = 200ms;
constexpr Nanos kLastWords = 2s;

std::vector<std::string> watched_config(const std::vector<std::string>& places,
                                        const std::vector<ConfigText>& texts) {
  std::vector<std::string> out;
  for (const std::string& place : places) {
    out.push_back(place + "/..data");
    out.push_back(place + "/poolconfig.yaml");
    out.push_back(place + "/cpu-pooler.yaml");
    out.push_back(place);
  }
  for (const ConfigText& text : texts) out.push_back(text.path);
  std::ranges::sort(out);
  out.erase(std::ranges::unique(out).begin(), out.end());
  return out;
}

}  // namespace

Daemon::Daemon(const Executor& loop, DaemonOptions options, std::shared_ptr<kube::Client> client,
               metrics::Registry& registry, std::function<void(Error)> on_fatal, Clock& clock)
    : loop_(loop),
      options_(std::move(options)),
      client_(std::move(client)),
      on_fatal_(std::move(on_fatal)),
      clock_(clock),
      metrics_(registry, state_),
      events_(options_.node_name, clock),
      wake_(loop),
      changed_(loop),
      tasks_(loop) {}

Daemon::~Daemon() = default;

Result<void> Daemon::start() {
  PLIM_TRY(topology_, read_topology(options_.host_root));
  PLIM_TRY(texts_, read_texts());
  records_ = std::make_unique<KubeletRecords>(loop_, options_.kubelet_dir);
  if (options_.setter) PLIM_CHECK(make_setter());
  make_plugins();
  if (client_) follow_cluster();
  tasks_.spawn("pools", run());
  return {};
}

Result<void> Daemon::make_setter() {
  using Type = kube::EventNote::Type;
  PLIM_TRY(CpusetTree tree, CpusetTree::open({.host_root = options_.host_root,
                                              .cgroup_root = options_.cgroup_root,
                                              .pods = options_.cpuset_root}));
  SetterHooks hooks;
  hooks.on_write = [this](bool good) { metrics_.count_write(good); };
  hooks.on_confined = [this](const LiveContainer& container, const CpusetTarget& target,
                             Nanos took) {
    metrics_.apply_seconds.observe(std::chrono::duration<double>(took).count());
    announce(container, target);
  };
  hooks.on_renamed = [this](const LiveContainer& container, const CpusetTarget& target) {
    announce(container, target);
  };
  hooks.on_drift = [this](const LiveContainer& container, const CpuSet& was) {
    metrics_.drift.add();
    events_.add(container, Type::warning, "CpusetDrift",
                fmt::format("another program set the CPUs of a container to {}; they were restored",
                            was.to_string()));
  };
  hooks.on_refused = [this](const LiveContainer& container, const CpuSet& cpus,
                            const Error& error) {
    events_.add(container, Type::warning, "CpusetRefused",
                fmt::format("container {} cannot be given CPU {}: {}", container.container,
                            cpus.to_string(), error.message));
  };
  setter_ = std::make_unique<Setter>(std::move(tree), clock_,
                                     options_.dry_run ? Writing::only_look : Writing::allowed,
                                     std::move(hooks));
  if (auto watch = DirectoryWatch::open(loop_)) directories_ = std::move(*watch);
  return {};
}

void Daemon::announce(const LiveContainer& container, const CpusetTarget& target) {
  if (!target.pooled) return;
  confined_.insert(container.pod);
  events_.add(container, kube::EventNote::Type::normal, "CPUsPinned",
              fmt::format("container {} runs on CPU {} ({})", container.container,
                          target.cpus.to_string(), fmt::join(container.pools, ", ")));
}

void Daemon::make_plugins() {
  EndpointHooks hooks{
      .on_registration = [this](const std::string& pool,
                                bool good) { metrics_.count_registration(pool, good); },
      .on_allocate =
          [this](const std::string&, Nanos took, bool) {
            metrics_.allocate_seconds.observe(std::chrono::duration<double>(took).count());
            wake();
          }};
  PluginsOptions plugins{.directory = options_.kubelet_dir + "/device-plugins",
                         .format = options_.format,
                         .starter = options_.starter};
  plugins_ = std::make_unique<Plugins>(loop_, clock_, state_, std::move(plugins), std::move(hooks));
}

void Daemon::follow_cluster() {
  ClusterView::Hooks hooks{.on_pods = [this] { wake(); },
                           .on_node =
                               [this] {
                                 if (cluster_->labels() != labels_) reload();
                               }};
  cluster_ =
      std::make_unique<ClusterView>(loop_, client_, options_.node_name, std::move(hooks), clock_);
  events_.start(loop_, client_, *cluster_);
  cluster_->start();
  const auto look = [this] {
    if (configured_) reload_if_changed();
  };
  maps_ = std::make_unique<ConfigMaps>(loop_, client_, options_.config_maps, look, clock_);
  maps_->start();
}

Task<void> Daemon::stop() {
  co_await tasks_.stop();
  if (plugins_) co_await plugins_->stop();
  if (cluster_) co_await cluster_->stop();
  if (maps_) co_await maps_->stop();
  co_await events_.stop();
}

void Daemon::wake() {
  dirty_ = true;
  wake_.notify();
}

bool Daemon::configure() {
  auto texts = read_texts();
  Problems problems;
  std::optional<NodePools> loaded;
  labels_ = cluster_ ? cluster_->labels() : NodeLabels();
  if (texts) {
    texts_ = std::move(*texts);
    const CpuSet usable = setter_ ? setter_->tree().usable() : CpuSet();
    loaded = load_node_pools(texts_, labels_, topology_, usable, problems);
  } else {
    problems.errors.push_back(texts.error().message);
  }
  for (const std::string& line : problems.warnings) log::warn("pools", line);
  if (!problems.warnings.empty())
    events_.warn_of_node("PoolConfigWarning",
                         fmt::format("{}", fmt::join(problems.warnings, "\n")));
  if (options_.strict && !problems.warnings.empty()) {
    problems.errors.insert(problems.errors.end(), problems.warnings.begin(),
                           problems.warnings.end());
    loaded.reset();
  }
  metrics_.config_valid.set(loaded ? 1 : 0);
  problem_ = loaded ? "" : fmt::format("{}", fmt::join(problems.errors, "\n"));
  if (!loaded) {
    for (const std::string& line : problems.errors) log::error("pools", line);
    events_.warn_of_node("PoolConfigInvalid", problem_);
    return false;
  }
  if (loaded->idle())
    log::info("pools", "NoPoolConfig: no file applies to this node; no pool is advertised");
  else
    log::info("pools", "configuration read",
              {{"file", loaded->file}, {"pools", loaded->pools.size()}});
  state_.configure(std::move(*loaded), topology_);
  configured_ = true;
  warn_of_double_booking();
  return true;
}

Result<std::vector<ConfigText>> Daemon::read_texts() const {
  PLIM_TRY(std::vector<ConfigText> out, read_config_texts(options_.config));
  if (maps_) std::ranges::move(maps_->texts(), std::back_inserter(out));
  return out;
}

// The scheduler also allocates the node's CPU to containers without a pool, which share the default
// pool.
void Daemon::warn_of_double_booking() {
  const auto node = cluster_ ? cluster_->node() : nullptr;
  const CpuSet& everybodys = state_.pools().default_cpus;
  if (!node || everybodys.empty()) return;
  for (const auto& [name, amount] : node->allocatable) {
    auto cpus = name == "cpu" ? parse_quantity(amount.view()) : Result<Quantity>(Quantity());
    if (name != "cpu" || !cpus || cpus->approximate() <= everybodys.count()) continue;
    events_.warn_of_node(
        "CPUDoubleBooked",
        fmt::format("the node offers {} CPUs, but containers without a pool run on {} ({}); "
                    "reserve the rest with systemReserved",
                    amount.view(), everybodys.count(), everybodys.to_string()));
  }
}

void Daemon::reload() {
  if (!configured_) return;
  configure();
  wake();
}

bool Daemon::reload_if_changed() {
  const auto texts = read_texts();
  const auto same = [](const ConfigText& a, const ConfigText& b) {
    return a.path == b.path && a.text == b.text;
  };
  if (texts && std::ranges::equal(*texts, texts_, same)) return false;
  reload();
  return true;
}

Task<void> Daemon::run() {
  if (cluster_) co_await cluster_->wait_synced();
  if (maps_) co_await maps_->wait_synced();
  if (!configure()) {
    co_await events_.flush(kLastWords);  // the process ends next
    if (on_fatal_) on_fatal_(fail(Code::invalid, problem_));
    co_return;
  }
  if (options_.cpu_manager_policy == "static")
    events_.warn_of_node(kStaticManagerReason, kStaticManagerText);
  // Move other containers off exclusive CPUs before the kubelet gets the device lists.
  co_await reconcile();
  if (options_.plugin && !options_.dry_run) plugins_->start();
  if (directories_) tasks_.spawn("cgroups of pods", follow_directories());
  tasks_.spawn("CPUs online", follow_online());
  tasks_.spawn("pool configuration", follow_config());
  if (options_.annotate && client_ && !options_.dry_run) tasks_.spawn("annotations", annotate());
  if (options_.node_report && client_) tasks_.spawn("node report", publish());
  for (;;) {
    const Nanos wait = young_ ? kYoungLook : retry_ > Nanos(0) ? retry_ : options_.interval;
    const SteadyTime deadline = clock_.steady() + wait;
    while (!dirty_) {
      const bool woken = co_await wake_.wait_until(clock_, deadline);
      if (woken) continue;
      if (!young_) reload_if_changed();  // for files that are not watched by name
      break;
    }
    dirty_ = false;
    co_await reconcile();
    co_await clock_.sleep(kBetween);
  }
}

std::string Daemon::environment_of(const std::string& cgroup) const {
  const std::string proc = (options_.host_root == "/" ? "" : options_.host_root) + "/proc/";
  const std::vector<int> pids = setter_->tree().processes(cgroup);
  if (pids.empty()) return {};
  return read_file(fmt::format("{}{}/environ", proc, pids.front())).value_or("");
}

// True: there are base names that were not known before.
bool Daemon::learn_bases(const KubeletAnswer& answer, const std::vector<PodFacts>& pods,
                         const std::vector<ContainerCgroup>& cgroups) {
  const auto found =
      forgotten_bases(answer, pods, cgroups, state_.base_names(),
                      [this](const std::string& path) { return environment_of(path); });
  for (const std::string& base : found) {
    log::info("pools", "running containers hold CPUs of a former resourceBaseName",
              {{"base", base}});
    state_.add_former_base(base);
  }
  return !found.empty();
}

Task<void> Daemon::reconcile() {
  const auto answer = co_await records_->look();
  std::vector<ContainerCgroup> cgroups;
  if (setter_) cgroups = setter_->tree().scan();
  std::vector<PodFacts> known;
  if (cluster_) known = cluster_->pods(state_.base_names());
  std::vector<Holding> told;
  if (answer) {
    if (learn_bases(*answer, known, cgroups)) known = cluster_->pods(state_.base_names());
    told = holdings_of(*answer, known, cgroups, state_.base_names());
  } else {
    // The kubelet may be restarting: keep the last holdings.
    told = state_.holdings();
    state_.keep_pending(clock_.steady());
    log_.write(log::Level::warn, "pools", "cannot get device allocations from the kubelet",
               {{"error", answer.error()}});
  }
  std::vector<LiveContainer> containers;
  if (setter_) {
    containers = live_containers(
        cgroups, known, told,
        [this](const std::string& path) -> std::optional<CpuSet> {
          auto set = setter_->tree().read(path);
          if (!set) return std::nullopt;
          return std::move(set->cpus);
        },
        [this](const std::string& path) { return environment_of(path); });
  }
  if (!cgroups.empty() && containers.empty())
    log_.write(
        log::Level::warn, "pools",
        "containers have no cpuset.cpus: the cpuset controller is not enabled in their cgroups");
  const SteadyTime now = clock_.steady();
  state_.set_holdings(complete_holdings(state_, std::move(told), containers, now), now);
  const Nanos before = std::exchange(retry_, Nanos(0));
  young_ = false;
  if (setter_ && !state_.pools().idle()) {
    const Setter::Outcome done = setter_->apply(state_, containers);
    state_.clear(done.intruded);
    events_.add_notes(done.notes, containers);
    events_.add_double_bookings(done.double_booked);
    young_ = done.young;
    if (!done.settled) retry_ = std::clamp(before * 2, kFirstRetry, kLongestRetry);
  } else {
    state_.clear({});
  }
  if (directories_ && directories_->set(setter_->tree().watched())) wake();
  plugins_->sync();
  events_.write();
  reconciled_ = true;
  changed_.notify();
}

Task<void> Daemon::follow_directories() {
  for (;;) {
    co_await directories_->next();
    wake();
  }
}

Task<void> Daemon::follow_online() {
  for (;;) {
    co_await clock_.sleep(kOnlineLook);
    if (!update_online(topology_, options_.host_root)) continue;
    log::info("pools", "the set of online CPUs has changed",
              {{"cpus", topology_.online.to_string()}});
    state_.set_online(topology_.online);
    plugins_->sync();  // the kubelet learns it at once; the next check writes the sets
    wake();
  }
}

Task<void> Daemon::follow_config() {
  for (;;) {
    FileWatch::Options options{.settle = kConfigSettle};
    auto watch = FileWatch::open(loop_, watched_config(options_.config, texts_), options, clock_);
    if (!watch) {
      log::info("pools", "cannot watch the configuration; send SIGHUP after changes",
                {{"reason", watch.error()}});
      co_return;
    }
    for (;;) {
      (void)co_await (*watch)->next();
      if (reload_if_changed()) break;  // watch again: there may be other files now
    }
  }
}

}  // namespace plim::pools
