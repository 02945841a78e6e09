#include "agent/cgroup_series.hpp"

#include <algorithm>
#include <string>

#include "agent/task_metrics.hpp"

namespace plim::agent {
namespace {

constexpr MetricTable::Series kNoSeries = ~MetricTable::Series{0};

}  // namespace

CgroupSeries::Families::Families(MetricTable& table)
    : numa(table.family("task_mem_numa_pages", MetricType::gauge, "Pages on each NUMA node")) {
  for (std::size_t i = 0; i < kFieldMetrics.size(); ++i) {
    const FieldMetric& metric = kFieldMetrics[i];
    fields[i] = table.family(metric.name, metric.type, metric.help);
  }
}

void CgroupSeries::make(MetricTable& table, const Families& families, const Labels& labels,
                        const node::CgroupSample& sample, bool pressure) {
  labels_.push_back(table.add_labels(labels));
  const MetricTable::LabelsId plain = labels_.back();
  const auto with = [&](std::initializer_list<std::pair<std::string, std::string>> level) {
    Labels more = labels;
    for (const auto& [key, value] : level) more.try_emplace(key, value);
    labels_.push_back(table.add_labels(more));
    return labels_.back();
  };
  for (std::size_t i = 0; i < kFieldMetrics.size(); ++i) {
    const FieldMetric& metric = kFieldMetrics[i];
    fields_[i] = kNoSeries;
    const bool is_pressure = !metric.resource.empty();
    if (is_pressure && (!pressure || !sample.has(metric.field))) continue;
    const MetricTable::LabelsId own =
        is_pressure
            ? with({{"resource", std::string(metric.resource)}, {"kind", std::string(metric.kind)}})
            : plain;
    fields_[i] = table.add(families.fields[i], own);
  }
  for (std::size_t i = 0; i < sample.numa_nodes; ++i) {
    const MetricTable::LabelsId own = with({{"numa_node", std::to_string(i)}});
    numa_.push_back(table.add(families.numa, own));
  }
  made_ = true;
}

void CgroupSeries::set(MetricTable& table, const node::CgroupSample& sample) const {
  for (std::size_t i = 0; i < kFieldMetrics.size(); ++i) {
    const FieldMetric& metric = kFieldMetrics[i];
    if (fields_[i] == kNoSeries || !sample.has(metric.field)) continue;
    const std::uint64_t value = sample[metric.field];
    if (metric.divisor == 1)
      table.set(fields_[i], value);
    else
      table.set(fields_[i], static_cast<double>(value) / metric.divisor);
  }
  for (std::size_t i = 0; i < std::min(numa_.size(), sample.numa_nodes); ++i)
    table.set(numa_[i], sample.numa_pages[i]);
}

void CgroupSeries::drop(MetricTable& table) {
  if (!made_) return;
  for (MetricTable::Series series : fields_)
    if (series != kNoSeries) table.drop(series);
  for (MetricTable::Series series : numa_) table.drop(series);
  for (MetricTable::LabelsId labels : labels_) table.drop_labels(labels);
  numa_.clear();
  labels_.clear();
  made_ = false;
}

}  // namespace plim::agent
