// The metrics of pools.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "base/metrics.hpp"
#include "pools/pool_state.hpp"

namespace plim::pools {

// Belongs to one loop; the registry and the state must outlive it.
class PoolsMetrics {
 public:
  PoolsMetrics(metrics::Registry& registry, const PoolState& state);

  void count_registration(const std::string& pool, bool good);
  void count_write(bool good);

  metrics::Histogram& apply_seconds;
  metrics::Histogram& allocate_seconds;
  metrics::Counter& drift;
  metrics::Gauge& config_valid;

 private:
  void collect(metrics::Exposition& out) const;

  metrics::Registry& registry_;
  const PoolState& state_;
  std::shared_ptr<metrics::Registry::Collect> collector_;
};

}  // namespace plim::pools
