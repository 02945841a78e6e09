// Destinations of metrics.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "agent/config.hpp"
#include "agent/metric_table.hpp"
#include "base/clock.hpp"
#include "base/result.hpp"

namespace plim::agent {

class Storage {
 public:
  virtual ~Storage() = default;
  // `now` is when the metrics were read; `clock` limits the wait for a slow reader.
  virtual Result<void> store(MetricTable& table, WallTime now, const Clock& clock) = 0;
  virtual std::string_view name() const = 0;  // "LogStorage"
};

// The last complete text of the PrometheusEndpoints of one address. Belongs to one loop.
struct Scrape {
  std::string listen;
  std::shared_ptr<std::string> text;
};

// Endpoints of the same address share a scrape, which is added to `scrapes` when it is new.
std::unique_ptr<Storage> make_storage(const StorageConfig& config,
                                      std::vector<std::shared_ptr<Scrape>>& scrapes);

}  // namespace plim::agent
