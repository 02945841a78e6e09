#include "agent/internal_metrics.hpp"

#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/machine.hpp"
#include "base/log_counts.hpp"
#include "base/text.hpp"

namespace plim::agent {
namespace {

constexpr std::array<std::string_view, 5> kSteps{"sleep", "collect_platform_information",
                                                 "sync_containers_state", "prepare_tasks_data",
                                                 "iteration"};

double seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
}

// Since Linux 6.2 the size of this directory is the number of descriptors. To count thousands of
// entries would cost more than to read the tasks.
std::uint64_t open_descriptors() {
  struct stat info{};
  return ::stat("/proc/self/fd", &info) == 0 ? static_cast<std::uint64_t>(info.st_size) : 0;
}

std::uint64_t resident_bytes(std::string_view statm) {
  const auto pages = parse_int<std::uint64_t>(cut(cut(trim(statm), ' ').second, ' ').first);
  return pages.value_or(0) * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

}  // namespace

SeriesByLabel::SeriesByLabel(MetricTable& table, MetricTable::Family family, std::string label,
                             Labels common)
    : table_(table), family_(family), label_(std::move(label)), common_(std::move(common)) {}

MetricTable::Series SeriesByLabel::series(std::string_view value) {
  if (auto known = series_.find(value); known != series_.end()) return known->second;
  Labels labels = common_;
  labels.try_emplace(label_, value);
  auto made = table_.add(family_, table_.add_labels(labels));
  series_.emplace(value, made);
  return made;
}

void SeriesByLabel::set(std::string_view value, double number) {
  table_.set(series(value), number);
}

void SeriesByLabel::set(std::string_view value, std::uint64_t number) {
  table_.set(series(value), number);
}

Labels InternalMetrics::information(const std::string& version, const std::string& host_root) {
  const Machine machine = read_machine(host_root);
  return {{"cpus", std::to_string(machine.cpus)},       {"cores", std::to_string(machine.cores)},
          {"sockets", std::to_string(machine.sockets)}, {"cpu_model", machine.model},
          {"cpu_model_number", machine.model_number},   {"wca_version", version}};
}

MetricTable::Series InternalMetrics::plain(std::string_view name, MetricType type,
                                           std::string_view help) {
  return table_.add(table_.family(name, type, help), common_id_);
}

InternalMetrics::InternalMetrics(MetricTable& table, const Labels& common, std::string version,
                                 const std::string& host_root)
    : table_(table),
      common_(common),
      common_id_(table.add_labels(common)),
      up_(plain("wca_up", MetricType::counter, "When the last iteration ended, unix time")),
      tasks_(plain("wca_tasks", MetricType::gauge, "Tasks measured")),
      memory_(plain("wca_mem_usage_bytes", MetricType::gauge, "Peak memory of the agent")),
      information_(0),
      iterations_(plain("plimsoll_agent_iterations_total", MetricType::counter, "Iterations")),
      overruns_(plain("plimsoll_agent_overruns_total", MetricType::counter,
                      "Iterations that took longer than the interval")),
      cpu_seconds_(plain("plimsoll_agent_cpu_seconds_total", MetricType::counter,
                         "CPU time of the agent itself")),
      resident_(
          plain("plimsoll_agent_resident_bytes", MetricType::gauge, "Current memory of the agent")),
      open_fds_(plain("plimsoll_agent_open_fds", MetricType::gauge, "Open descriptors")),
      fd_limit_(plain("plimsoll_agent_fd_limit", MetricType::gauge, "Limit of descriptors")),
      sync_age_(plain("plimsoll_agent_node_sync_age_seconds", MetricType::gauge,
                      "Age of the list of tasks in use")),
      duration_(table, table.family("wca_duration_seconds", MetricType::gauge, "Time of each step"),
                "function", common),
      duration_mean_(table,
                     table.family("wca_duration_seconds_avg", MetricType::gauge,
                                  "Mean time of each step since the start"),
                     "function", common),
      modules_(table,
               table.family("plimsoll_agent_module_up", MetricType::gauge, "1 if the module works"),
               "module", common),
      sync_errors_(table,
                   table.family("plimsoll_agent_node_sync_errors_total", MetricType::counter,
                                "Failures to get the list of tasks"),
                   "reason", common),
      read_errors_(table,
                   table.family("plimsoll_agent_task_read_errors_total", MetricType::counter,
                                "Failures to read tasks"),
                   "kind", common),
      storage_errors_(table,
                      table.family("plimsoll_agent_storage_errors_total", MetricType::counter,
                                   "Failures to store metrics"),
                      "storage", common),
      warnings_(table,
                table.family("wca_warning_count", MetricType::counter, "Warnings in the log"),
                "module", common),
      log_errors_(table, table.family("wca_error_count", MetricType::counter, "Errors in the log"),
                  "module", common),
      source_family_(table.family("plimsoll_agent_source_up", MetricType::gauge,
                                  "1 if the source has values, else 0 with the reason")) {
  Labels info = information(version, host_root);
  for (const auto& [key, value] : common) info[key] = value;
  information_ = table_.add(
      table_.family("wca_information", MetricType::gauge, "The machine and the agent's version"),
      table_.add_labels(info));
}

void InternalMetrics::took(Step step, Nanos time) {
  Duration& duration = durations_[static_cast<std::size_t>(step)];
  duration.last = time;
  duration.sum += time;
  ++duration.count;
}

void InternalMetrics::source(std::string_view name, bool up, const std::string& reason) {
  const std::pair key(std::string(name), up ? std::string() : reason);
  auto known = sources_.find(key);
  if (known == sources_.end()) {
    Labels labels = common_;
    labels.try_emplace("source", key.first);
    labels.try_emplace("reason", key.second);
    known = sources_.emplace(key, table_.add(source_family_, table_.add_labels(labels))).first;
  }
  table_.set(known->second, std::uint64_t{up ? 1U : 0U});
}

void InternalMetrics::publish(const AgentFacts& facts) {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  table_.set(up_, std::chrono::duration<double>(facts.now.time_since_epoch()).count());
  table_.set(tasks_, std::uint64_t{facts.tasks});
  table_.set(memory_, static_cast<std::uint64_t>(usage.ru_maxrss) * 1024);
  table_.set(information_, std::uint64_t{1});
  table_.set(iterations_, facts.iterations);
  table_.set(overruns_, facts.overruns);
  table_.set(cpu_seconds_, seconds(usage.ru_utime) + seconds(usage.ru_stime));
  table_.set(resident_, resident_bytes(statm_.read(buffer_)));
  if (std::uint64_t open = open_descriptors(); open > 0) table_.set(open_fds_, open);
  table_.set(fd_limit_, std::uint64_t{limit.rlim_cur});
  table_.set(sync_age_, facts.sync_age);
  for (std::size_t i = 0; i < kSteps.size(); ++i) {
    const Duration& duration = durations_[i];
    if (duration.count == 0) continue;
    duration_.set(kSteps[i], std::chrono::duration<double>(duration.last).count());
    duration_mean_.set(kSteps[i], std::chrono::duration<double>(duration.sum).count() /
                                      static_cast<double>(duration.count));
  }
  if (facts.alone) modules_.set("measure", std::uint64_t{1});
  source("cgroup", facts.cgroups_up, facts.cgroups_reason);
  source("node", facts.node_up, facts.node_reason);
  source("psi", facts.has_pressure, "not_available");
  for (const SourceState& state : facts.sources) source(state.source, state.up, state.reason);
  for (const log::LineCount& count : log::line_counts()) {
    if (count.warnings > 0) warnings_.set(count.part, count.warnings);
    if (count.errors > 0) log_errors_.set(count.part, count.errors);
  }
  read_errors_.set("vanished", facts.vanished);
  read_errors_.set("permission", facts.refused);
  if (facts.sync_errors != nullptr)
    for (const auto& [reason, count] : *facts.sync_errors) sync_errors_.set(reason, count);
  if (facts.storage_errors != nullptr)
    for (const auto& [storage, count] : *facts.storage_errors) storage_errors_.set(storage, count);
}

}  // namespace plim::agent
