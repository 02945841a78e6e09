#include "sched/plugin_metrics.hpp"

#include <bit>

namespace plim::sched {
namespace {

constexpr std::array kPointOfStep{placement::Point::PreFilter, placement::Point::Filter,
                                  placement::Point::Score};

std::vector<double> growing(double first, double factor, std::size_t count) {
  std::vector<double> out;
  for (std::size_t index = 0; index < count; ++index, first *= factor) out.push_back(first);
  return out;
}

// The names in metrics: "PreFilter".
std::string point_label(placement::Point point) {
  std::string out(name_of(point));
  out[0] = static_cast<char>(out[0] - 'a' + 'A');
  return out;
}

double seconds_of(Nanos duration) {
  return std::chrono::duration<double>(duration).count();
}

std::string_view status_word(std::optional<RejectCode> code) {
  if (!code) return "Success";
  return *code == RejectCode::unschedulable ? "Unschedulable" : "UnschedulableAndUnresolvable";
}

}  // namespace

PluginMetrics::OfProfile& PluginMetrics::of(const std::string& profile) {
  return profiles_[profile];
}

void PluginMetrics::observe(const std::string& profile, placement::Point point,
                            std::string_view status, Nanos took) {
  metrics::Histogram*& made = of(profile).points[{point, status}];
  if (made == nullptr)
    made =
        &registry_.histogram("scheduler_framework_extension_point_duration_seconds",
                             "Time of all plugins of an extension point.", growing(0.0001, 2, 12),
                             {{"extension_point", point_label(point)},
                              {"status", std::string(status)},
                              {"profile", profile}});
  made->observe(seconds_of(took));
}

void PluginMetrics::count_asked(const std::string& profile, Step step, std::uint32_t plugins) {
  auto& counters = of(profile).asked[static_cast<std::size_t>(step)];
  for (; plugins != 0; plugins &= plugins - 1) {
    const auto at = static_cast<std::size_t>(std::countr_zero(plugins));
    if (counters[at] == nullptr)
      counters[at] = &registry_.counter(
          "scheduler_plugin_evaluation_total", "Decisions in which a plugin was asked.",
          {{"plugin", std::string(name_of(static_cast<PluginId>(at)))},
           {"extension_point", point_label(kPointOfStep[static_cast<std::size_t>(step)])},
           {"profile", profile}});
    counters[at]->add();
  }
}

void PluginMetrics::decided(const std::string& profile, const placement::DecisionTimes& times,
                            const Decision& decision) {
  for (const Step step : {Step::pre_filter, Step::filter, Step::score}) {
    if (times.of(step) == Nanos(0)) continue;
    // Filters succeed also if they reject nodes.
    const std::string_view status =
        step == Step::pre_filter ? status_word(decision.pre_filter_code) : "Success";
    observe(profile, kPointOfStep[static_cast<std::size_t>(step)], status, times.of(step));
    count_asked(profile, step, times.asked(step));
  }
  for (const placement::DecisionTimes::PluginTime& one : times.plugins()) {
    const placement::Point point = kPointOfStep[static_cast<std::size_t>(one.step)];
    metrics::Histogram*& made = plugins_[{one.plugin, point}];
    if (made == nullptr)
      made =
          &registry_.histogram("scheduler_plugin_execution_duration_seconds",
                               "Time of a plugin at an extension point, in one of ten decisions.",
                               growing(0.00001, 1.5, 20),
                               {{"plugin", std::string(name_of(one.plugin))},
                                {"extension_point", point_label(point)},
                                {"status", "Success"}});
    made->observe(seconds_of(one.took));
  }
}

void PluginMetrics::ran(const std::string& profile, placement::Point point, bool success,
                        Nanos took) {
  const std::string_view failed = point == placement::Point::PostFilter ? "Unschedulable" : "Error";
  observe(profile, point, success ? "Success" : failed, took);
}

}  // namespace plim::sched
