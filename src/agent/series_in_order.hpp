// Series of one family by the keys of a kernel file, whose keys have the same order in each read.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "agent/metric_table.hpp"

namespace plim::agent {

// Belongs to one loop.
class SeriesInOrder {
 public:
  using Wanted = std::function<bool(std::string_view key)>;

  // `labels` without the label of the key. Keys that are not wanted get no series.
  SeriesInOrder(MetricTable& table, MetricTable::Family family, Labels labels, Wanted wanted);

  void restart() { next_ = 0; }  // call before each read of the file

  void set(std::string_view key, std::uint64_t value);

 private:
  struct Known {
    std::string key;
    bool wanted;
    MetricTable::Series series;
  };

  std::size_t find(std::string_view key);

  MetricTable& table_;
  MetricTable::Family family_;
  Labels labels_;
  Wanted wanted_;
  std::vector<Known> known_;
  std::size_t next_ = 0;
};

}  // namespace plim::agent
