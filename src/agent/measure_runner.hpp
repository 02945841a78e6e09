// The loop of the agent: finds tasks, reads them, publishes metrics, sleeps until the next tick.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "agent/config.hpp"
#include "agent/dimms.hpp"
#include "agent/internal_metrics.hpp"
#include "agent/labels.hpp"
#include "agent/measurement.hpp"
#include "agent/platform.hpp"
#include "agent/storage.hpp"
#include "agent/task_source.hpp"
#include "base/clock.hpp"
#include "base/log.hpp"
#include "base/result.hpp"
#include "base/task.hpp"

namespace plim::agent {

struct RunnerOptions {
  std::string host_root = "/";
  std::string version = "0";
  std::string metrics_listen = {};  // "": only the addresses of the file
  std::string usual_listen = {};    // used if neither sets an address; "": none
  std::string cgroup_root = {};     // of the kubelet; the file takes precedence
  std::string node_name = {};
  std::uint64_t iterations = 0;  // 0: until it is stopped
  bool alone = true;             // no other module runs in this process
};

// The addresses for metrics: those of the file and the options, else `usual_listen`.
std::vector<std::string> scrape_addresses(const MeasureConfig& config,
                                          const RunnerOptions& options);

// Belongs to one loop; co_await stop() before destroying it.
class MeasureRunner {
 public:
  static Result<std::unique_ptr<MeasureRunner>> make(Executor loop, Clock& clock,
                                                     MeasureConfig config, RunnerOptions options);
  ~MeasureRunner();
  MeasureRunner(const MeasureRunner&) = delete;
  MeasureRunner& operator=(const MeasureRunner&) = delete;

  // Ends after `iterations`, or when its task is cancelled. Fails if something that the
  // configuration requires is missing.
  Task<Result<void>> run();
  Task<void> stop();

  bool ready() const { return iterations_ > 0 && source_->ready(); }

  bool alive() const;
  json::value state() const;

  const std::vector<std::shared_ptr<Scrape>>& scrapes() const { return scrapes_; }

 private:
  MeasureRunner(Executor loop, Clock& clock, MeasureConfig config, RunnerOptions options,
                LabelGenerators generators);
  TaskList labelled(const TaskList& found);
  void iterate(SteadyTime began);
  void store(WallTime now);
  void warn_about_descriptors();

  Executor loop_;
  Clock& clock_;
  MeasureConfig config_;
  RunnerOptions options_;
  MetricTable table_;
  Labels common_;
  std::vector<SourceState> sources_;  // sources that need hardware
  std::unique_ptr<Platform> platform_;
  std::unique_ptr<DimmSeries> dimms_;  // null: unknown
  std::unique_ptr<Measurement> measurement_;
  std::unique_ptr<InternalMetrics> internal_;
  std::unique_ptr<TaskSource> source_;
  std::vector<std::shared_ptr<Scrape>> scrapes_;
  std::unique_ptr<Storage> storage_;
  std::vector<std::unique_ptr<Storage>> more_storages_;
  LabelGenerators generators_;
  TaskList found_, listed_;  // as found, and with generated labels

  std::uint64_t iterations_ = 0, overruns_ = 0, vanished_before_ = 0;
  SteadyTime last_tick_ = {};
  std::map<std::string, std::uint64_t> storage_errors_;
  log::Throttle storage_warnings_;
  bool warned_about_descriptors_ = false;
};

}  // namespace plim::agent
