// The memory modules of the machine, from dmidecode. Read once, because they do not change while
// the machine runs.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "agent/metric_table.hpp"
#include "base/result.hpp"
#include "base/task.hpp"

namespace plim::agent {

struct DimmKind {
  std::uint64_t count = 0, bytes = 0;

  bool operator==(const DimmKind&) const = default;
};

struct Dimms {
  DimmKind ram, nvm;
  std::uint64_t ram_bytes_per_second = 0;  // sum of all modules; 0: unknown

  bool operator==(const Dimms&) const = default;
};

// Parses the output of `dmidecode --quiet -t memory`.
Dimms parse_dimms(std::string_view text);

// `wanted` true: fail if dmidecode gives nothing. Empty: try it. False: do not run it.
Task<Result<std::optional<Dimms>>> read_dimms(std::optional<bool> wanted);

// Series that are set in every iteration. Belongs to one loop.
class DimmSeries {
 public:
  DimmSeries(MetricTable& table, const Labels& common, const Dimms& dimms);
  void set();

 private:
  struct One {
    MetricTable::Series series;
    std::uint64_t value;
  };

  MetricTable& table_;
  std::vector<One> all_;
};

}  // namespace plim::agent
