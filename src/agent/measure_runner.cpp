#include "agent/measure_runner.hpp"

#include <algorithm>
#include <sys/resource.h>
#include <unistd.h>

#include <fmt/format.h>

#include "agent/hardware_sources.hpp"
#include "agent/kubernetes_source.hpp"
#include "base/resident.hpp"
#include "node/cgroup_layout.hpp"

namespace plim::agent {
namespace {

constexpr long kSpareDescriptors = 48;  // for everything except cgroups
// After these iterations all code of an iteration has run once.
constexpr std::uint64_t kStarted = 2;

std::string host_name() {
  char name[256] = {};
  (void)::gethostname(name, sizeof name - 1);
  return name;
}

// Raises the limit of descriptors as far as allowed, and returns how many cgroups may use.
long descriptors_to_keep() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return 0;
  if (limit.rlim_cur < limit.rlim_max) {
    rlimit raised = limit;
    raised.rlim_cur = raised.rlim_max;
    if (::setrlimit(RLIMIT_NOFILE, &raised) == 0) limit = raised;
  }
  constexpr rlim_t kMost = 1'000'000;
  return std::max(0L, static_cast<long>(std::min(limit.rlim_cur, kMost)) - kSpareDescriptors);
}

Nanos as_nanos(double seconds) {
  return std::chrono::duration_cast<Nanos>(std::chrono::duration<double>(seconds));
}

using Scrapes = std::vector<std::shared_ptr<Scrape>>;

// The address in addition to those of the file; "": none.
std::string address_of_options(const RunnerOptions& options, const Scrapes& of_file) {
  if (!options.metrics_listen.empty() || !of_file.empty()) return options.metrics_listen;
  return options.usual_listen;
}

}  // namespace

std::vector<std::string> scrape_addresses(const MeasureConfig& config,
                                          const RunnerOptions& options) {
  Scrapes of_file;
  (void)make_storage(config.storage, of_file);
  std::vector<std::string> out;
  for (const auto& scrape : of_file) out.push_back(scrape->listen);
  std::string more = address_of_options(options, of_file);
  if (!more.empty() && std::ranges::find(out, more) == out.end()) out.push_back(std::move(more));
  return out;
}

Result<std::unique_ptr<MeasureRunner>> MeasureRunner::make(Executor loop, Clock& clock,
                                                           MeasureConfig config,
                                                           RunnerOptions options) {
  PLIM_TRY(LabelGenerators generators, LabelGenerators::make(config.label_generators));
  const node::CgroupLayout layout = node::detect_cgroups(options.host_root);
  node::CgroupMounts mounts = node::CgroupMounts::from(layout);
  if (!mounts.usable())
    return fail(Code::unavailable,
                fmt::format("no cgroups with cpu and memory below {}; is /sys/fs/cgroup mounted?",
                            options.host_root));
  const std::string host_root = options.host_root == "/" ? "" : options.host_root;
  PLIM_TRY(HardwareSources hardware, probe_hardware(config, layout, host_root));
  for (const std::string& warning : hardware.warnings) log::warn("measure", warning);
  log::info("measure", "cgroups: " + mounts.describe());
  std::unique_ptr<MeasureRunner> out(new MeasureRunner(std::move(loop), clock, std::move(config),
                                                       std::move(options), std::move(generators)));
  MeasureRunner& self = *out;
  self.sources_ = std::move(hardware.states);
  self.common_ = {{"host", host_name()}};
  if (self.config_.include_optional_labels)
    self.common_.merge(InternalMetrics::information(self.options_.version, host_root));
  for (const auto& [key, value] : self.config_.extra_labels) self.common_[key] = value;
  self.internal_ = std::make_unique<InternalMetrics>(self.table_, self.common_,
                                                     self.options_.version, host_root);
  Platform::Options of_platform{.host_root = host_root,
                                .common = self.common_,
                                .zoneinfo = self.config_.zoneinfo,
                                .vmstat = self.config_.vmstat,
                                .pressure = self.config_.pressure};
  self.platform_ = std::make_unique<Platform>(self.table_, std::move(of_platform));
  Measurement::Options measuring{.common = self.common_,
                                 .pressure = self.config_.pressure,
                                 .containers = self.config_.container_metrics};
  self.measurement_ = std::make_unique<Measurement>(self.table_, std::move(mounts),
                                                    descriptors_to_keep(), std::move(measuring));
  const auto& counted = self.measurement_->mounts();
  if (const auto* fixed = std::get_if<StaticNodeConfig>(&self.config_.node)) {
    self.source_ = make_static_source(*fixed, counted, clock);
  } else {
    auto pods = std::get<KubernetesNodeConfig>(self.config_.node);
    if (!pods.cgroup_root && !self.options_.cgroup_root.empty())
      pods.cgroup_root = self.options_.cgroup_root;
    if (pods.node_name.empty()) pods.node_name = self.options_.node_name;
    PLIM_TRY(self.source_, make_kubernetes_source(self.loop_, clock, std::move(pods),
                                                  self.config_.interval, counted));
  }
  self.storage_ = make_storage(self.config_.storage, self.scrapes_);
  if (std::string listen = address_of_options(self.options_, self.scrapes_); !listen.empty()) {
    StorageConfig endpoint{.kind = StorageConfig::Kind::endpoint, .listen = std::move(listen)};
    self.more_storages_.push_back(make_storage(endpoint, self.scrapes_));
  }
  return out;
}

MeasureRunner::MeasureRunner(Executor loop, Clock& clock, MeasureConfig config,
                             RunnerOptions options, LabelGenerators generators)
    : loop_(std::move(loop)),
      clock_(clock),
      config_(std::move(config)),
      options_(std::move(options)),
      generators_(std::move(generators)) {}

MeasureRunner::~MeasureRunner() = default;

Task<void> MeasureRunner::stop() {
  co_await source_->stop();
}

Task<Result<void>> MeasureRunner::run() {
  PLIM_CO_TRY(std::optional<Dimms> dimms, co_await read_dimms(config_.dimm_facts));
  if (dimms) dimms_ = std::make_unique<DimmSeries>(table_, common_, *dimms);
  source_->start();
  const Nanos interval = as_nanos(config_.interval);
  SteadyTime next = clock_.steady();
  while (options_.iterations == 0 || iterations_ < options_.iterations) {
    const SteadyTime began = clock_.steady();
    const std::uint64_t vanished = measurement_->counts().vanished;
    co_await source_->prepare(vanished != vanished_before_);
    vanished_before_ = vanished;
    internal_->took(Step::sync, clock_.steady() - began);
    iterate(began);
    last_tick_ = clock_.steady();
    if (interval.count() == 0) {
      co_await yield_to_loop();
      continue;
    }
    next += interval;
    if (next <= last_tick_) {
      ++overruns_;
      next += (last_tick_ - next) / interval * interval + interval;
    }
    const bool last = options_.iterations != 0 && iterations_ >= options_.iterations;
    if (!last) co_await clock_.sleep_until(next);
    internal_->took(Step::sleep, clock_.steady() - last_tick_);
  }
  co_return Result<void>{};
}

TaskList MeasureRunner::labelled(const TaskList& found) {
  if (found == found_) return listed_;
  found_ = found;
  listed_ = found;
  if (config_.label_generators.empty() || !found) return listed_;
  std::vector<NodeTask> tasks = *found;
  std::vector<std::string> warnings;
  for (NodeTask& task : tasks) generators_.apply(task, warnings);
  for (const std::string& warning : warnings) log::warn("measure", warning);
  listed_ = std::make_shared<const std::vector<NodeTask>>(std::move(tasks));
  return listed_;
}

void MeasureRunner::iterate(SteadyTime began) {
  table_.begin();
  const WallTime wall = clock_.wall();
  const SteadyTime looking = clock_.steady();
  platform_->measure(wall);
  if (dimms_) dimms_->set();
  const SteadyTime reading = clock_.steady();
  internal_->took(Step::platform, reading - looking);
  if (TaskList tasks = labelled(source_->tasks())) {
    measurement_->set_tasks(std::move(tasks), reading);
    measurement_->measure(reading, wall);
  }
  internal_->took(Step::tasks, clock_.steady() - reading);
  warn_about_descriptors();
  ++iterations_;
  internal_->took(Step::iteration, clock_.steady() - began);
  AgentFacts facts{.now = wall,
                   .iterations = iterations_,
                   .overruns = overruns_,
                   .tasks = measurement_->tasks_seen(),
                   .vanished = measurement_->counts().vanished,
                   .refused = measurement_->counts().refused,
                   .node_up = source_->failure().empty(),
                   .has_pressure = platform_->has_pressure() ||
                                   !measurement_->mounts().unified.directory.empty(),
                   .node_reason = source_->failure(),
                   .sync_age = source_->age_seconds(),
                   .sources = sources_,
                   .alone = options_.alone,
                   .sync_errors = &source_->errors(),
                   .storage_errors = &storage_errors_};
  internal_->publish(facts);
  store(wall);
  if (iterations_ == kStarted) {
    return_memory_when_freed();
    forget_code_of_start();
  }
}

void MeasureRunner::store(WallTime now) {
  const auto into = [&](Storage& storage) {
    auto stored = storage.store(table_, now, clock_);
    if (stored) return;
    ++storage_errors_[std::string(storage.name())];
    storage_warnings_.write(log::Level::warn, "storage", "cannot store metrics",
                            {{"storage", storage.name()}, {"error", stored.error()}});
  };
  into(*storage_);
  for (auto& storage : more_storages_) into(*storage);
}

void MeasureRunner::warn_about_descriptors() {
  const long missing = measurement_->fds_short();
  if (missing == 0 || warned_about_descriptors_) return;
  warned_about_descriptors_ = true;
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  log::warn("measure", "the limit of open files is low: some files are opened in every iteration",
            {{"limit", limit.rlim_cur}, {"needed", limit.rlim_cur + static_cast<rlim_t>(missing)}});
}

bool MeasureRunner::alive() const {
  const double patience = std::max(3 * config_.interval, 3.0);
  return iterations_ == 0 || clock_.steady() - last_tick_ < as_nanos(patience);
}

json::value MeasureRunner::state() const {
  json::object out{{"iterations", iterations_},
                   {"interval", config_.interval},
                   {"node", source_->failure().empty() ? "up" : source_->failure()},
                   {"tasks", measurement_->state()}};
  return out;
}

}  // namespace plim::agent
