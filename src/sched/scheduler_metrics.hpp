// What the scheduler counts, under kube-scheduler's names where it has them.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/clock.hpp"
#include "base/metrics.hpp"
#include "sched/scheduling_queue.hpp"

namespace plim::sched {

enum class AttemptResult : std::uint8_t { scheduled, unschedulable, error };

// Belongs to one loop; read by whoever scrapes.
class SchedulerMetrics {
 public:
  explicit SchedulerMetrics(metrics::Registry& registry);

  void attempt(AttemptResult result, const std::string& profile, Nanos duration);
  void decided(Nanos duration, std::size_t nodes_scored, bool by_locality);
  void bound(int attempts, Nanos since_first_try, std::int64_t missing_bytes);
  void incoming(std::string_view queue, std::string_view event);
  void rejected(const std::string& plugin, const std::string& profile);
  void sizes(const QueueCounts& queue, std::size_t nodes, std::size_t pods, std::size_t assumed,
             std::size_t binding);
  void preempted(std::size_t victims);

  metrics::Gauge& reload_success() { return reload_success_; }

 private:
  metrics::Registry& registry_;
  metrics::Histogram& algorithm_;
  metrics::Histogram& decision_;
  metrics::Histogram& attempts_;
  metrics::Gauge &active_, &backoff_, &unschedulable_, &gated_;
  metrics::Gauge &nodes_, &pods_, &assumed_, &binding_;
  metrics::Gauge& reload_success_;
  metrics::Gauge& nodes_scored_;
  metrics::Counter& missing_bytes_;
  metrics::Counter& tie_breaks_;
  metrics::Counter& preemptions_;
  metrics::Histogram& victims_;
};

}  // namespace plim::sched
