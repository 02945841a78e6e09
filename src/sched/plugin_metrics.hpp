// How long plugins and extension points take, under kube-scheduler's names.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>

#include "base/clock.hpp"
#include "base/metrics.hpp"
#include "placement/decision_times.hpp"
#include "placement/plugin_sets.hpp"
#include "sched/vocabulary.hpp"

namespace plim::sched {

// Belongs to one loop.
class PluginMetrics {
 public:
  explicit PluginMetrics(metrics::Registry& registry) : registry_(registry) {}

  // Whether the next decision is measured by plugin: one of ten is.
  bool draw() { return drawn_++ % 10 == 0; }

  void decided(const std::string& profile, const placement::DecisionTimes& times,
               const Decision& decision);
  // Reports an extension point that is not part of the decision itself.
  void ran(const std::string& profile, placement::Point point, bool success, Nanos took);

 private:
  using Step = placement::DecisionTimes::Step;

  struct OfProfile {
    std::array<std::array<metrics::Counter*, 32>, placement::DecisionTimes::kSteps> asked{};
    std::map<std::pair<placement::Point, std::string_view>, metrics::Histogram*> points;
  };

  OfProfile& of(const std::string& profile);
  void observe(const std::string& profile, placement::Point point, std::string_view status,
               Nanos took);
  void count_asked(const std::string& profile, Step step, std::uint32_t plugins);

  metrics::Registry& registry_;
  std::uint64_t drawn_ = 0;
  std::map<std::string, OfProfile, std::less<>> profiles_;
  std::map<std::pair<PluginId, placement::Point>, metrics::Histogram*> plugins_;
};

}  // namespace plim::sched
