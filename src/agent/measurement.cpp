#include "agent/measurement.hpp"

#include <algorithm>

namespace plim::agent {
namespace {

using node::CgroupField;
using node::kCgroupFields;
using Series = MetricTable::Series;
using Counters = std::array<std::uint64_t, kCgroupFields>;  // other fields are 0

constexpr std::chrono::minutes kRemembered{5};

// Metrics of a task that are not fields of its cgroup.
enum Fixed : std::size_t { kUp, kLastSeen, kSubcontainers, kRequestedCpus, kRequestedMem };

struct FixedMetric {
  std::string_view name;
  MetricType type;
  std::string_view help;
};

constexpr std::array kFixedMetrics{
    FixedMetric{"task_up", MetricType::counter, "1 while the task is seen"},
    FixedMetric{"task_last_seen", MetricType::counter, "When the task was read, unix time"},
    FixedMetric{"task_subcontainers", MetricType::gauge, "Containers of the task with a cgroup"},
    FixedMetric{"task_requested_cpus", MetricType::gauge, "CPUs requested"},
    FixedMetric{"task_requested_mem_bytes", MetricType::gauge, "Memory requested"},
};

constexpr std::size_t kShortId = 12;  // as crictl and docker show container IDs

// The sum of an unlimited value and any other is unlimited.
std::uint64_t add_limits(std::uint64_t a, std::uint64_t b) {
  const std::uint64_t room = node::kNoMemoryLimit - std::min(a, node::kNoMemoryLimit);
  return b >= room ? node::kNoMemoryLimit : a + b;
}

double seconds_between(SteadyTime from, SteadyTime to) {
  return std::chrono::duration<double>(to - from).count();
}

}  // namespace

// One cgroup of a task.
struct Measurement::Part {
  std::string id, name;
  node::CgroupMeter meter;
  Counters last{};
  CgroupSeries series = {};  // used if each container is published
};

struct Measurement::State {
  const NodeTask* task = nullptr;  // null: no longer listed
  NodeTask model;                  // the series have its labels
  std::vector<Part> parts = {};
  Counters ended{};  // sum of parts that have ended
  // Counters of the parts when the task left the list, by path: it may return with the same parts.
  std::map<std::string, Counters> left = {};

  node::CgroupSample sum = {};
  bool read = false;
  SteadyTime last_listed = {};

  CgroupSeries series = {};
  std::array<Series, kFixedMetrics.size()> fixed{};

  std::optional<SteadyTime> rated_at = {};
  std::array<std::uint64_t, kCgroupFields> rated{};
  std::optional<TaskRates> rates = {};

  // Keeps the counters of a part that ends, so that the task's counters never decrease.
  void retire(const Counters& last) {
    for (std::size_t i = 0; i < kCgroupFields; ++i) ended[i] += last[i];
  }
};

Measurement::Measurement(MetricTable& table, node::CgroupMounts mounts, long fds_to_keep,
                         Options options)
    : table_(table),
      mounts_(std::move(mounts)),
      budget_{.left = fds_to_keep},
      options_(std::move(options)),
      buffer_(node::meter_buffer()),
      cgroup_families_(table) {
  for (const FixedMetric& metric : kFixedMetrics)
    families_.push_back(table_.family(metric.name, metric.type, metric.help));
}

Measurement::~Measurement() = default;

void Measurement::set_tasks(TaskList tasks, SteadyTime now) {
  if (tasks == tasks_) {
    for (State* state : listed_) state->last_listed = now;
    return;
  }
  for (State* state : listed_) state->task = nullptr;
  listed_.clear();
  tasks_ = std::move(tasks);
  for (const NodeTask& task : *tasks_) {
    auto& state = states_[task.id];
    if (!state) state = std::make_unique<State>();
    if (state->task != nullptr) continue;  // listed twice
    state->task = &task;
    state->last_listed = now;
    listed_.push_back(state.get());
    if (state->model == task) continue;
    if (state->series.made() && state->model.labels != task.labels) drop_series(*state);
    state->model = task;
    set_parts(*state);
  }
  for (auto& [id, state] : states_)
    if (state->task == nullptr && state->series.made()) drop_series(*state);
  forget_old(now);
}

void Measurement::forget_old(SteadyTime now) {
  std::erase_if(states_, [&](const auto& entry) {
    State& state = *entry.second;
    if (state.task != nullptr) return false;
    for (Part& part : state.parts) {
      state.left[part.meter.path()] = part.last;
      part.series.drop(table_);
    }
    state.parts.clear();
    state.model = {};  // a task that returns to the list gets its parts again
    return now - state.last_listed > kRemembered;
  });
}

void Measurement::set_parts(State& state) {
  std::vector<ContainerGroup> wanted = state.task->containers;
  if (!state.task->is_pod) wanted = {{.id = "", .name = "", .path = state.task->cgroup_path}};
  std::erase_if(state.parts, [&](Part& part) {
    const bool stays = std::ranges::any_of(wanted, [&](const ContainerGroup& group) {
      return group.id == part.id && group.path == part.meter.path();
    });
    if (stays) return false;
    state.retire(part.last);
    part.series.drop(table_);
    return true;
  });
  std::vector<Part> parts;
  for (ContainerGroup& group : wanted) {
    auto known = std::ranges::find(state.parts, group.id, &Part::id);
    if (known != state.parts.end()) {
      parts.push_back(std::move(*known));
      state.parts.erase(known);
    } else {
      auto left = state.left.extract(group.path);
      parts.push_back({.id = group.id,
                       .name = group.name,
                       .meter = node::CgroupMeter(mounts_, std::move(group.path), budget_),
                       .last = left ? left.mapped() : Counters{}});
    }
  }
  state.parts = std::move(parts);
  for (const auto& [path, last] : state.left) state.retire(last);
  state.left.clear();
}

Labels Measurement::labels_of(const NodeTask& task) const {
  Labels out = task.labels;
  for (const auto& [key, value] : options_.common) out[key] = value;
  return out;
}

void Measurement::make_series(State& state) {
  state.series.make(table_, cgroup_families_, labels_of(*state.task), state.sum, options_.pressure);
  for (std::size_t i = 0; i < kFixedMetrics.size(); ++i)
    state.fixed[i] = table_.add(families_[i], state.series.labels());
}

void Measurement::drop_series(State& state) {
  for (Part& part : state.parts) part.series.drop(table_);
  if (!state.series.made()) return;
  for (Series series : state.fixed) table_.drop(series);
  state.series.drop(table_);
}

// Publishes one container after it was read.
void Measurement::publish_part(const State& state, Part& part) {
  if (!part.series.made()) {
    Labels labels = labels_of(*state.task);
    labels.try_emplace("container_id", part.id.substr(0, kShortId));
    labels.try_emplace("container", part.name);
    part.series.make(table_, cgroup_families_, labels, sample_, options_.pressure);
  }
  part.series.set(table_, sample_);
}

// The sum over the existing parts. Without limit if one of them has no limit.
void Measurement::read(State& state) {
  state.sum.clear();
  state.sum.numa_pages.fill(0);
  state.sum.values.fill(0);
  state.read = false;
  bool any_gone = false;
  for (Part& part : state.parts) {
    auto outcome = part.meter.read(sample_, buffer_);
    counts_.refused += static_cast<std::uint64_t>(outcome.refused);
    if (outcome.gone) {
      any_gone = true;
      state.retire(part.last);
      part.last.fill(0);
      continue;
    }
    state.read = true;
    if (options_.containers && state.task->is_pod) publish_part(state, part);
    for (std::size_t i = 0; i < kCgroupFields; ++i) {
      const auto field = static_cast<CgroupField>(i);
      if (!sample_.has(field)) continue;
      const std::uint64_t value = sample_[field];
      if (node::is_counter(field)) {
        // A cgroup that was created again with the same name counts from zero.
        if (value < part.last[i]) state.ended[i] += part.last[i];
        part.last[i] = value;
      }
      const bool limit =
          field == CgroupField::memory_limit || field == CgroupField::memory_soft_limit;
      state.sum.set(field, limit ? add_limits(state.sum[field], value) : state.sum[field] + value);
    }
    for (std::size_t i = 0; i < sample_.numa_nodes; ++i)
      state.sum.numa_pages[i] += sample_.numa_pages[i];
    state.sum.numa_nodes = std::max(state.sum.numa_nodes, sample_.numa_nodes);
  }
  if (any_gone && !state.read) ++counts_.vanished;
  for (std::size_t i = 0; i < kCgroupFields; ++i) {
    const auto field = static_cast<CgroupField>(i);
    if (node::is_counter(field) && state.sum.has(field)) state.sum.values[i] += state.ended[i];
  }
}

void Measurement::publish(State& state, double wall_seconds) {
  if (!state.series.made()) make_series(state);
  const NodeTask& task = *state.task;
  table_.set(state.fixed[kUp], std::uint64_t{1});
  table_.set(state.fixed[kLastSeen], wall_seconds);
  table_.set(state.fixed[kSubcontainers], std::uint64_t{task.containers.size()});
  const auto request = [&](const char* resource, Fixed metric) {
    auto found = task.resources.find(resource);
    if (found != task.resources.end()) table_.set(state.fixed[metric], found->second);
  };
  request("cpus", kRequestedCpus);
  request("mem", kRequestedMem);
  state.series.set(table_, state.sum);
}

void Measurement::rate(State& state, SteadyTime now) {
  const auto grown = [&](CgroupField field) {
    const auto i = static_cast<std::size_t>(field);
    const std::uint64_t value = state.sum[field];
    return value > state.rated[i] ? static_cast<double>(value - state.rated[i]) : 0.0;
  };
  if (state.rated_at && now > *state.rated_at) {
    const double seconds = seconds_between(*state.rated_at, now);
    const double periods = grown(CgroupField::periods);
    TaskRates rates{.cpu = grown(CgroupField::cpu_ns) / 1e9 / seconds,
                    .faults = grown(CgroupField::page_faults) / seconds,
                    .throttled = periods > 0 ? grown(CgroupField::throttled_periods) / periods : 0};
    if (state.sum.has(CgroupField::cpu_some_us))
      rates.pressure = grown(CgroupField::cpu_some_us) / 1e6 / seconds;
    state.rates = rates;
  }
  state.rated_at = now;
  state.rated = state.sum.values;
}

void Measurement::measure(SteadyTime now, WallTime wall) {
  const double wall_seconds = std::chrono::duration<double>(wall.time_since_epoch()).count();
  seen_ = 0;
  budget_.refused = 0;
  for (State* state : listed_) {
    read(*state);
    if (!state->read) continue;
    publish(*state, wall_seconds);
    rate(*state, now);
    ++seen_;
  }
}

json::value Measurement::state() const {
  json::array tasks;
  for (const State* state : listed_) {
    if (!state->read) continue;
    const NodeTask& task = *state->task;
    json::array containers;
    for (const ContainerGroup& group : task.containers)
      containers.push_back({{"id", group.id}, {"name", group.name}, {"cgroup", group.path}});
    json::object item{{"task_id", task.id},
                      {"name", task.name},
                      {"cgroup", task.cgroup_path},
                      {"containers", std::move(containers)},
                      {"labels", json::value_from(task.labels)},
                      {"resources", json::value_from(task.resources)}};
    if (state->sum.has(CgroupField::memory_usage))
      item["memory_bytes"] = state->sum[CgroupField::memory_usage];
    if (state->rates) {
      json::object rates{{"cpu", state->rates->cpu},
                         {"page_faults", state->rates->faults},
                         {"throttled", state->rates->throttled}};
      if (state->rates->pressure) rates["pressure"] = *state->rates->pressure;
      item["rates"] = std::move(rates);
    }
    tasks.push_back(std::move(item));
  }
  return tasks;
}

}  // namespace plim::agent
