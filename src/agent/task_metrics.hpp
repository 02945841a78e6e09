// The table of metrics of a task.
#pragma once

#include <array>
#include <string_view>

#include "agent/metric_table.hpp"
#include "node/cgroup_meter.hpp"

namespace plim::agent {

// Metrics that are one field of the cgroup.
struct FieldMetric {
  node::CgroupField field;
  std::string_view name;
  MetricType type;
  std::string_view help;
  double divisor = 1;                         // 1: published as a whole number
  std::string_view resource = {}, kind = {};  // labels of pressure
};

inline constexpr std::array kFieldMetrics{
    FieldMetric{node::CgroupField::cpu_ns, "task_cpu_usage_seconds", MetricType::counter,
                "CPU time of the task", 1e9},
    FieldMetric{node::CgroupField::memory_usage, "task_mem_usage_bytes", MetricType::gauge,
                "Memory in use, page cache included"},
    FieldMetric{node::CgroupField::memory_max_usage, "task_mem_max_usage_bytes", MetricType::gauge,
                "Most memory ever in use"},
    FieldMetric{node::CgroupField::memory_limit, "task_mem_limit_bytes", MetricType::gauge,
                "Limit of memory; 9223372036854771712 is none"},
    FieldMetric{node::CgroupField::memory_soft_limit, "task_mem_soft_limit_bytes",
                MetricType::gauge, "Memory that is protected or wanted first"},
    FieldMetric{node::CgroupField::memory_working, "task_mem_working_bytes", MetricType::gauge,
                "Memory in use without inactive page cache"},
    FieldMetric{node::CgroupField::page_faults, "task_mem_page_faults", MetricType::counter,
                "Page faults"},
    FieldMetric{node::CgroupField::oom_kills, "task_oom_kills", MetricType::counter,
                "Processes killed for want of memory"},
    FieldMetric{node::CgroupField::periods, "task_cpu_periods", MetricType::counter,
                "Periods of the CPU quota"},
    FieldMetric{node::CgroupField::throttled_periods, "task_cpu_throttled_periods",
                MetricType::counter, "Periods in which the quota was used up"},
    FieldMetric{node::CgroupField::throttled_ns, "task_cpu_throttled_seconds", MetricType::counter,
                "Time held back by the CPU quota", 1e9},
    FieldMetric{node::CgroupField::cpu_some_us, "task_pressure_seconds", MetricType::counter,
                "Time that some or all of the task waited for a resource", 1e6, "cpu", "some"},
    FieldMetric{node::CgroupField::cpu_full_us, "task_pressure_seconds", MetricType::counter, "",
                1e6, "cpu", "full"},
    FieldMetric{node::CgroupField::memory_some_us, "task_pressure_seconds", MetricType::counter, "",
                1e6, "memory", "some"},
    FieldMetric{node::CgroupField::memory_full_us, "task_pressure_seconds", MetricType::counter, "",
                1e6, "memory", "full"},
    FieldMetric{node::CgroupField::io_some_us, "task_pressure_seconds", MetricType::counter, "",
                1e6, "io", "some"},
    FieldMetric{node::CgroupField::io_full_us, "task_pressure_seconds", MetricType::counter, "",
                1e6, "io", "full"},
};
static_assert(kFieldMetrics.size() == node::kCgroupFields);

}  // namespace plim::agent
