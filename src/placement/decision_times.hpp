// How long a decision takes: always by step, and by plugin if `by_plugin` is set.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "base/clock.hpp"
#include "placement/profile.hpp"

namespace plim::placement {

class DecisionTimes {
 public:
  enum class Step : std::uint8_t { pre_filter, filter, score };
  static constexpr std::size_t kSteps = 3;

  struct PluginTime {
    PluginId plugin{};
    Step step{};
    Nanos took{0};
  };

  DecisionTimes(Clock& clock, bool by_plugin) : clock_(clock), by_plugin_(by_plugin) {}

  Nanos of(Step step) const { return steps_[static_cast<std::size_t>(step)]; }

  // A bit per plugin that was asked.
  std::uint32_t asked(Step step) const { return asked_[static_cast<std::size_t>(step)]; }

  const std::vector<PluginTime>& plugins() const { return plugins_; }

  // Measures from construction to destruction; does nothing if `times` is null.
  class Watch {
   public:
    Watch(DecisionTimes* times, Step step) : times_(times), step_(step) {
      if (times_ != nullptr) began_ = times_->clock_.steady();
    }

    ~Watch() {
      if (times_ != nullptr)
        times_->steps_[static_cast<std::size_t>(step_)] += times_->clock_.steady() - began_;
    }

    Watch(const Watch&) = delete;
    Watch& operator=(const Watch&) = delete;

   private:
    DecisionTimes* times_;
    Step step_;
    SteadyTime began_{};
  };

  class PluginWatch {
   public:
    PluginWatch(DecisionTimes* times, Step step, PluginId plugin)
        : times_(times), step_(step), plugin_(plugin) {
      if (times_ == nullptr) return;
      times_->asked_[static_cast<std::size_t>(step)] |= 1U << static_cast<unsigned>(plugin);
      if (!times_->by_plugin_)
        times_ = nullptr;
      else
        began_ = times_->clock_.steady();
    }

    ~PluginWatch() {
      if (times_ != nullptr)
        times_->plugins_.push_back({plugin_, step_, times_->clock_.steady() - began_});
    }

    PluginWatch(const PluginWatch&) = delete;
    PluginWatch& operator=(const PluginWatch&) = delete;

   private:
    DecisionTimes* times_;
    Step step_;
    PluginId plugin_;
    SteadyTime began_{};
  };

 private:
  Clock& clock_;
  bool by_plugin_;
  std::array<Nanos, kSteps> steps_{};
  std::array<std::uint32_t, kSteps> asked_{};
  std::vector<PluginTime> plugins_;
};

}  // namespace plim::placement
