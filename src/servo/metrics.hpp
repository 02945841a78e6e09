// The servo's metrics.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "base/metrics.hpp"
#include "loop/run_record.hpp"

namespace plim::servo {

inline constexpr std::size_t kMostApps = 200;  // values of the label `app`; more become "other"

// Belongs to one loop. The registry must outlive it.
class Metrics {
 public:
  explicit Metrics(metrics::Registry& registry);

  void count_run(const loop::RunRecord& run);
  void count_miss(std::string_view reason);
  void count_post(std::string_view result);  // sent, retry, dead

  metrics::Registry& registry;
  metrics::Counter& undecodable;
  metrics::Gauge& unsent;
  metrics::Gauge& store_failing;  // 1 while runs cannot be written
  metrics::Gauge& store_bytes;

 private:
  // Cached, because looking up a metric takes longer than counting.
  struct App {
    std::string label;
    metrics::Histogram* seconds;
    std::map<std::string_view, metrics::Counter*> runs = {};  // by outcome
  };

  App& app_of(const std::string& id);

  std::map<std::string, App, std::less<>> apps_;
  std::map<std::string, metrics::Counter*, std::less<>> posts_;
};

}  // namespace plim::servo
