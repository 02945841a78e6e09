#include "agent/measurement.hpp"

#include <algorithm>

#include "agent/task_metrics.hpp"

namespace plim::agent {
namespace {

using node::CgroupField;
using node::kCgroupFields;
using Series = MetricTable::Series;
using LabelsId = MetricTable::LabelsId;

constexpr std::chrono::minutes kRemembered{5};

// What is published about a task beside the fields of its cgroup.
enum Fixed : std::size_t { kUp, kLastSeen, kSubcontainers, kRequestedCpus, kRequestedMem, kNuma };

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
    FixedMetric{"task_mem_numa_pages", MetricType::gauge, "Pages on each NUMA node"},
};

constexpr Series kNone = ~Series{0};

double seconds_between(SteadyTime from, SteadyTime to) {
  return std::chrono::duration<double>(to - from).count();
}

}  // namespace

// One cgroup of a task.
struct Measurement::Part {
  std::string id;
  node::CgroupMeter meter;
  std::array<std::uint64_t, kCgroupFields> last{};  // of counters
};

struct Measurement::State {
  const NodeTask* task = nullptr;  // null: not listed any more
  NodeTask model;                  // whose labels the series have
  std::vector<Part> parts = {};
  std::array<std::uint64_t, kCgroupFields> ended{};  // counters of parts that are no more

  node::CgroupSample sum = {};
  bool read = false;
  SteadyTime last_listed = {};

  bool has_series = false;
  LabelsId labels = 0;
  std::array<Series, kFixedMetrics.size()> fixed{};
  std::array<Series, kCgroupFields> fields{};
  std::vector<LabelsId> level_labels = {};
  std::vector<Series> numa = {};

  std::optional<SteadyTime> rated_at = {};
  std::array<std::uint64_t, kCgroupFields> rated{};
  std::optional<TaskRates> rates = {};

  // A part that ends leaves its counters behind, so that the task's never fall.
  void retire(const Part& part) {
    for (std::size_t i = 0; i < kCgroupFields; ++i) ended[i] += part.last[i];
  }
};

Measurement::Measurement(MetricTable& table, node::CgroupMounts mounts, long fds_to_keep,
                         Options options)
    : table_(table),
      mounts_(std::move(mounts)),
      budget_{.left = fds_to_keep},
      options_(std::move(options)),
      buffer_(node::meter_buffer()) {
  for (const FixedMetric& metric : kFixedMetrics)
    families_.push_back(table_.family(metric.name, metric.type, metric.help));
  for (const FieldMetric& metric : kFieldMetrics)
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
    if (state->has_series && state->model.labels != task.labels) drop_series(*state);
    state->model = task;
    set_parts(*state);
  }
  for (auto& [id, state] : states_)
    if (state->task == nullptr && state->has_series) drop_series(*state);
  forget_old(now);
}

void Measurement::forget_old(SteadyTime now) {
  std::erase_if(states_, [&](const auto& entry) {
    State& state = *entry.second;
    if (state.task != nullptr) return false;
    for (const Part& part : state.parts) state.retire(part);
    state.parts.clear();
    state.model = {};  // a task that comes back gets its parts anew
    return now - state.last_listed > kRemembered;
  });
}

void Measurement::set_parts(State& state) {
  std::vector<ContainerGroup> wanted = state.task->containers;
  if (!state.task->is_pod) wanted = {{.id = "", .name = "", .path = state.task->cgroup_path}};
  std::erase_if(state.parts, [&](const Part& part) {
    const bool stays = std::ranges::any_of(wanted, [&](const ContainerGroup& group) {
      return group.id == part.id && group.path == part.meter.path();
    });
    if (!stays) state.retire(part);
    return !stays;
  });
  std::vector<Part> parts;
  for (ContainerGroup& group : wanted) {
    auto known = std::ranges::find(state.parts, group.id, &Part::id);
    if (known != state.parts.end()) {
      parts.push_back(std::move(*known));
      state.parts.erase(known);
    } else {
      parts.push_back(
          {.id = group.id, .meter = node::CgroupMeter(mounts_, std::move(group.path), budget_)});
    }
  }
  state.parts = std::move(parts);
}

void Measurement::make_series(State& state) {
  Labels labels = state.task->labels;
  for (const auto& [key, value] : options_.common) labels[key] = value;
  state.labels = table_.add_labels(labels);
  const auto with = [&](std::initializer_list<std::pair<std::string, std::string>> level) {
    Labels more = labels;
    for (const auto& [key, value] : level) more.try_emplace(key, value);
    state.level_labels.push_back(table_.add_labels(more));
    return state.level_labels.back();
  };
  for (std::size_t i = 0; i < kFixedMetrics.size(); ++i)
    state.fixed[i] = i == kNuma ? kNone : table_.add(families_[i], state.labels);
  for (std::size_t i = 0; i < kFieldMetrics.size(); ++i) {
    const FieldMetric& metric = kFieldMetrics[i];
    state.fields[i] = kNone;
    const bool is_pressure = !metric.resource.empty();
    if (is_pressure && (!options_.pressure || !state.sum.has(metric.field))) continue;
    const LabelsId own =
        is_pressure
            ? with({{"resource", std::string(metric.resource)}, {"kind", std::string(metric.kind)}})
            : state.labels;
    state.fields[i] = table_.add(families_[kFixedMetrics.size() + i], own);
  }
  for (std::size_t i = 0; i < state.sum.numa_nodes; ++i) {
    const LabelsId own = with({{"numa_node", std::to_string(i)}});
    state.numa.push_back(table_.add(families_[kNuma], own));
  }
  state.has_series = true;
}

void Measurement::drop_series(State& state) {
  for (Series series : state.fixed)
    if (series != kNone) table_.drop(series);
  for (Series series : state.fields)
    if (series != kNone) table_.drop(series);
  for (Series series : state.numa) table_.drop(series);
  for (LabelsId labels : state.level_labels) table_.drop_labels(labels);
  table_.drop_labels(state.labels);
  state.numa.clear();
  state.level_labels.clear();
  state.has_series = false;
}

// The sum over the parts that are there. A limit of all is none if one of them has none.
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
      state.retire(part);
      part.last.fill(0);
      continue;
    }
    state.read = true;
    for (std::size_t i = 0; i < kCgroupFields; ++i) {
      const auto field = static_cast<CgroupField>(i);
      if (!sample_.has(field)) continue;
      const std::uint64_t value = sample_[field];
      if (node::is_counter(field)) {
        // A cgroup of the same name that was made anew counts from zero.
        if (value < part.last[i]) state.ended[i] += part.last[i];
        part.last[i] = value;
      }
      state.sum.set(field, state.sum[field] + value);
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
  for (CgroupField field : {CgroupField::memory_limit, CgroupField::memory_soft_limit}) {
    std::uint64_t& limit = state.sum.values[static_cast<std::size_t>(field)];
    limit = std::min(limit, node::kNoMemoryLimit);
  }
}

void Measurement::publish(State& state, double wall_seconds) {
  if (!state.has_series) make_series(state);
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
  for (std::size_t i = 0; i < kFieldMetrics.size(); ++i) {
    const FieldMetric& metric = kFieldMetrics[i];
    if (state.fields[i] == kNone || !state.sum.has(metric.field)) continue;
    const std::uint64_t value = state.sum[metric.field];
    if (metric.divisor == 1)
      table_.set(state.fields[i], value);
    else
      table_.set(state.fields[i], static_cast<double>(value) / metric.divisor);
  }
  for (std::size_t i = 0; i < std::min(state.numa.size(), state.sum.numa_nodes); ++i)
    table_.set(state.numa[i], state.sum.numa_pages[i]);
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
