// The metric series of one cgroup: of a task or of one of its containers.
#pragma once

#include <array>
#include <vector>

#include "agent/metric_table.hpp"
#include "node/cgroup_meter.hpp"

namespace plim::agent {

// Created once, then set in each iteration. Belongs to one loop; call drop() before destroying it.
class CgroupSeries {
 public:
  // The families of all series, created once.
  struct Families {
    explicit Families(MetricTable& table);

    std::array<MetricTable::Family, node::kCgroupFields> fields;
    MetricTable::Family numa;
  };

  // Creates series for the values that the sample has; pressure only if `pressure` is true.
  void make(MetricTable& table, const Families& families, const Labels& labels,
            const node::CgroupSample& sample, bool pressure);
  void set(MetricTable& table, const node::CgroupSample& sample) const;
  void drop(MetricTable& table);

  bool made() const { return made_; }

  // The labels without a level, for other series of the cgroup; valid until drop().
  MetricTable::LabelsId labels() const { return labels_.front(); }

 private:
  bool made_ = false;
  std::array<MetricTable::Series, node::kCgroupFields> fields_{};
  std::vector<MetricTable::Series> numa_ = {};
  std::vector<MetricTable::LabelsId> labels_ = {};
};

}  // namespace plim::agent
