// Metrics of the agent itself.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "agent/kernel_file.hpp"
#include "agent/metric_table.hpp"
#include "base/clock.hpp"

namespace plim::agent {

// Series of one family by the value of one label, created when first set. Belongs to one loop.
class SeriesByLabel {
 public:
  SeriesByLabel(MetricTable& table, MetricTable::Family family, std::string label, Labels common);
  void set(std::string_view value, double number);
  void set(std::string_view value, std::uint64_t number);

 private:
  MetricTable::Series series(std::string_view value);

  MetricTable& table_;
  MetricTable::Family family_;
  std::string label_;
  Labels common_;
  std::map<std::string, MetricTable::Series, std::less<>> series_;
};

// Steps of an iteration, by the names that WCA dashboards use.
enum class Step { sleep, platform, sync, tasks, iteration };

// Whether a source of values is available.
struct SourceState {
  std::string source;  // "perf"
  bool up = true;
  std::string reason = {};  // why it is not available: "no_pmu"
};

struct AgentFacts {
  WallTime now = {};
  std::uint64_t iterations = 0, overruns = 0;
  std::size_t tasks = 0;
  std::uint64_t vanished = 0, refused = 0;
  bool cgroups_up = true, node_up = true, has_pressure = false;
  std::string cgroups_reason = {}, node_reason = {};
  double sync_age = 0;
  std::span<const SourceState> sources = {};  // in addition to those above
  bool alone = true;                          // no other code publishes module_up
  const std::map<std::string, std::uint64_t>* sync_errors = nullptr;
  const std::map<std::string, std::uint64_t>* storage_errors = nullptr;
};

class InternalMetrics {
 public:
  InternalMetrics(MetricTable& table, const Labels& common, std::string version,
                  const std::string& host_root);
  void took(Step step, Nanos time);
  void publish(const AgentFacts& facts);
  // The labels of wca_information, for include_optional_labels too.
  static Labels information(const std::string& version, const std::string& host_root);

 private:
  struct Duration {
    Nanos last{0}, sum{0};
    std::uint64_t count = 0;
  };

  MetricTable::Series plain(std::string_view name, MetricType type, std::string_view help);
  void source(std::string_view name, bool up, const std::string& reason);

  MetricTable& table_;
  Labels common_;
  MetricTable::LabelsId common_id_;
  MetricTable::Series up_, tasks_, memory_, information_, iterations_, overruns_, cpu_seconds_,
      resident_, open_fds_, fd_limit_, sync_age_;
  SeriesByLabel duration_, duration_mean_, modules_, sync_errors_, read_errors_, storage_errors_,
      warnings_, log_errors_;
  MetricTable::Family source_family_;
  std::map<std::pair<std::string, std::string>, MetricTable::Series> sources_;
  std::array<Duration, 5> durations_{};
  KernelFile statm_{"/proc/self/statm"};
  std::vector<char> buffer_;
};

}  // namespace plim::agent
