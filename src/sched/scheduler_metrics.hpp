// The metrics of the scheduler, with kube-scheduler's names where it has them.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "base/clock.hpp"
#include "base/metrics.hpp"
#include "sched/plugin_metrics.hpp"
#include "sched/scheduling_queue.hpp"
#include "sched/vocabulary.hpp"

namespace plim::sched {

enum class AttemptResult : std::uint8_t { scheduled, unschedulable, error };

// Belongs to one loop.
class SchedulerMetrics {
 public:
  explicit SchedulerMetrics(metrics::Registry& registry);

  void attempt(AttemptResult result, const std::string& profile, Nanos duration);
  void decided(Nanos duration, std::size_t nodes_scored, bool by_locality);
  void bound(const SchedulingQueue::Attempt& attempt, SteadyTime now);
  void pulls(std::int64_t image_bytes, std::int64_t missing_bytes);  // of a pod that was placed
  // Both texts must live as long as the program.
  void incoming(std::string_view queue, std::string_view event);
  void sizes(const QueueCounts& queue, std::size_t nodes, std::size_t pods, std::size_t assumed,
             std::size_t binding);
  void looked_for_victims();
  void preempted(std::size_t victims);
  void evicted(bool all, Nanos took);
  void event_handled(EventKind kind, Nanos took);
  void hinted(PluginId plugin, EventKind kind, bool helps, Nanos took);

  PluginMetrics& plugins() { return plugins_; }

  // Updates the metrics that are computed when they are read.
  static void collect(const SchedulingQueue& queue, const Engine& engine, WallTime now,
                      metrics::Exposition& out);

  metrics::Gauge& reload_success() { return reload_success_; }

 private:
  static constexpr std::size_t kResultKinds = 3;
  static constexpr int kMostAttempts = 15;  // counted separately

  // Pods by where they wait, under the name of old releases and under that of 1.37.
  struct WaitingGauges {
    WaitingGauges(metrics::Registry& registry, const char* queue);
    void set(std::size_t count);

    metrics::Gauge &pods, &entities;
  };

  struct Incoming {
    metrics::Counter *pods = nullptr, *entities = nullptr;  // likewise
  };

  struct Attempts {
    metrics::Counter* count = nullptr;
    metrics::Histogram* duration = nullptr;
  };

  metrics::Registry& registry_;
  // Series that are looked up once, since a look-up by labels costs more than counting.
  std::map<std::string, std::array<Attempts, kResultKinds>> attempts_of_profile_;
  std::array<metrics::Histogram*, kMostAttempts> sli_{};
  std::map<std::pair<std::string_view, std::string_view>, Incoming> incoming_;
  PluginMetrics plugins_;
  std::array<metrics::Histogram*, kEventKinds> events_{};
  std::map<std::tuple<PluginId, EventKind, bool>, metrics::Histogram*> hints_;
  metrics::Histogram& algorithm_;
  metrics::Histogram& decision_;
  metrics::Histogram& attempts_;
  WaitingGauges active_, backoff_, unschedulable_, gated_;
  metrics::Gauge &nodes_, &pods_, &assumed_, &binding_;
  metrics::Gauge& reload_success_;
  metrics::Gauge& nodes_scored_;
  metrics::Counter &missing_bytes_, &saved_bytes_;
  metrics::Counter& tie_breaks_;
  metrics::Counter& preemptions_;
  metrics::Counter& after_timeout_;
  metrics::Histogram& victims_;
};

}  // namespace plim::sched
