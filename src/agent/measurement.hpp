// Reads every task once per iteration and sets its series in the table of metrics.
#pragma once

#include <array>
#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "agent/cgroup_series.hpp"
#include "agent/metric_table.hpp"
#include "agent/task.hpp"
#include "base/clock.hpp"
#include "base/json.hpp"
#include "node/cgroup_meter.hpp"

namespace plim::agent {

struct MeasureCounts {
  std::uint64_t vanished = 0;  // tasks whose cgroup was removed before it was read
  std::uint64_t refused = 0;   // files that the agent has no permission to read
};

// Rates per second between the last two iterations.
struct TaskRates {
  double cpu = 0;  // CPUs
  double faults = 0;
  double throttled = 0;                 // share of periods
  std::optional<double> pressure = {};  // share of time in which some thread waited for a CPU
};

// Belongs to one loop.
class Measurement {
 public:
  struct Options {
    Labels common = {};       // on every metric; override labels of tasks
    bool pressure = true;     // publish pressure
    bool containers = false;  // also publish each container of a pod
  };

  Measurement(MetricTable& table, node::CgroupMounts mounts, long fds_to_keep, Options options);
  ~Measurement();
  Measurement(const Measurement&) = delete;
  Measurement& operator=(const Measurement&) = delete;

  // The state of a task stays for a while after it has left the list, so that the counters of a pod
  // do not start at zero when all its containers restart.
  void set_tasks(TaskList tasks, SteadyTime now);
  // Reads all listed tasks and sets their values in the table.
  void measure(SteadyTime now, WallTime wall);

  std::size_t tasks_seen() const { return seen_; }

  const MeasureCounts& counts() const { return counts_; }

  long fds_short() const { return budget_.refused; }  // descriptors that could not stay open

  // Every task of the last iteration with its model and its rates.
  json::value state() const;

  const node::CgroupMounts& mounts() const { return mounts_; }

 private:
  struct Part;
  struct State;

  void make_series(State& state);
  void drop_series(State& state);
  Labels labels_of(const NodeTask& task) const;
  void publish_part(const State& state, Part& part);
  void set_parts(State& state);
  void read(State& state);
  void publish(State& state, double wall_seconds);
  void rate(State& state, SteadyTime now);
  void forget_old(SteadyTime now);

  MetricTable& table_;
  node::CgroupMounts mounts_;
  node::FdBudget budget_;
  Options options_;
  TaskList tasks_;
  std::map<std::string, std::unique_ptr<State>> states_;  // by task id
  std::vector<State*> listed_;                            // in the order of the list
  std::vector<char> buffer_;
  node::CgroupSample sample_;
  MeasureCounts counts_;
  std::size_t seen_ = 0;
  std::vector<MetricTable::Family> families_;
  CgroupSeries::Families cgroup_families_;
};

}  // namespace plim::agent
