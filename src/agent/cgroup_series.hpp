// The series of what a cgroup's files say, of a task or of one of its containers.
#pragma once

#include <array>
#include <vector>

#include "agent/metric_table.hpp"
#include "node/cgroup_meter.hpp"

namespace plim::agent {

// Made once, then set in each iteration. Belongs to one loop; drop() before it goes.
class CgroupSeries {
 public:
  // The families of all of them, made once.
  struct Families {
    explicit Families(MetricTable& table);

    std::array<MetricTable::Family, node::kCgroupFields> fields;
    MetricTable::Family numa;
  };

  // Which there are follows from the first sample; pressure only where it is wanted.
  void make(MetricTable& table, const Families& families, const Labels& labels,
            const node::CgroupSample& sample, bool pressure);
  void set(MetricTable& table, const node::CgroupSample& sample) const;
  void drop(MetricTable& table);

  bool made() const { return made_; }

  // Those without level, for what else there is to say; theirs until drop().
  MetricTable::LabelsId labels() const { return labels_.front(); }

 private:
  bool made_ = false;
  std::array<MetricTable::Series, node::kCgroupFields> fields_{};
  std::vector<MetricTable::Series> numa_ = {};
  std::vector<MetricTable::LabelsId> labels_ = {};
};

}  // namespace plim::agent
