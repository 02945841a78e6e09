#include "base/metrics.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <mutex>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "base/result.hpp"

namespace plim::metrics {
namespace {

using Metric = std::variant<Counter, Gauge, Histogram>;

void print(Exposition::Family& family, const std::string& labels, const Counter& counter) {
  family.sample("", labels, static_cast<double>(counter.value()));
}

void print(Exposition::Family& family, const std::string& labels, const Gauge& gauge) {
  family.sample("", labels, gauge.value());
}

void print(Exposition::Family& family, const std::string& labels, const Histogram& histogram) {
  const auto counts = histogram.counts();
  const std::string separator = labels.empty() ? "" : ",";
  std::uint64_t total = 0;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    total += counts[i];
    const bool last = i == histogram.bounds().size();
    const std::string bound = last ? "+Inf" : fmt::format("{}", histogram.bounds()[i]);
    family.sample("_bucket", fmt::format("{}{}le=\"{}\"", labels, separator, bound),
                  static_cast<double>(total));
  }
  family.sample("_sum", labels, histogram.sum());
  family.sample("_count", labels, static_cast<double>(total));
}

}  // namespace

Histogram::Histogram(std::vector<double> bounds)
    : bounds_(std::move(bounds)),
      counts_(std::make_unique<std::atomic<std::uint64_t>[]>(bounds_.size() + 1)) {
  PLIM_ASSERT(std::is_sorted(bounds_.begin(), bounds_.end(), std::less_equal<>()));
}

void Histogram::observe(double value) {
  const auto bucket = std::lower_bound(bounds_.begin(), bounds_.end(), value) - bounds_.begin();
  counts_[static_cast<std::size_t>(bucket)].fetch_add(1, std::memory_order_relaxed);
  sum_.fetch_add(value, std::memory_order_relaxed);
}

std::vector<std::uint64_t> Histogram::counts() const {
  std::vector<std::uint64_t> out;
  for (std::size_t i = 0; i <= bounds_.size(); ++i)
    out.push_back(counts_[i].load(std::memory_order_relaxed));
  return out;
}

std::vector<double> spread_bounds(double first, std::size_t count) {
  std::vector<double> out;
  for (double decade = first; out.size() < count; decade *= 10)
    for (double step : {1.0, 2.0, 5.0})
      if (out.size() < count) out.push_back(decade * step);
  return out;
}

struct Registry::Impl {
  struct Family {
    std::string help;
    Type type;
    std::map<std::string, Metric> series;  // by rendered labels
  };

  template <class Kind, class... Args>
  Kind& get(std::string_view name, std::string_view help, Type type, const Labels& labels,
            Args&&... args) {
    const std::lock_guard lock(mutex);
    auto found = families.try_emplace(std::string(name), Family{std::string(help), type, {}}).first;
    PLIM_ASSERT(found->second.type == type);
    auto& series = found->second.series;
    auto entry = series.try_emplace(render_labels(labels), std::in_place_type<Kind>,
                                    std::forward<Args>(args)...);
    return std::get<Kind>(entry.first->second);
  }

  std::mutex mutex;  // guards the members below, not the values
  std::map<std::string, Family> families;
  std::vector<std::weak_ptr<Collect>> collectors;
};

Registry::Registry() : impl_(std::make_unique<Impl>()) {}

Registry::~Registry() = default;

Counter& Registry::counter(std::string_view name, std::string_view help, const Labels& labels) {
  return impl_->get<Counter>(name, help, Type::counter, labels);
}

Gauge& Registry::gauge(std::string_view name, std::string_view help, const Labels& labels) {
  return impl_->get<Gauge>(name, help, Type::gauge, labels);
}

Histogram& Registry::histogram(std::string_view name, std::string_view help,
                               std::vector<double> bounds, const Labels& labels) {
  return impl_->get<Histogram>(name, help, Type::histogram, labels, std::move(bounds));
}

std::shared_ptr<Registry::Collect> Registry::add_collector(Collect collect) {
  auto handle = std::make_shared<Collect>(std::move(collect));
  const std::lock_guard lock(impl_->mutex);
  impl_->collectors.push_back(handle);
  return handle;
}

std::string Registry::expose() const {
  Exposition out;
  std::vector<std::shared_ptr<Collect>> collectors;
  {
    const std::lock_guard lock(impl_->mutex);
    for (const auto& [name, family] : impl_->families) {
      auto to = out.family(name, family.help, family.type);
      for (const auto& [labels, metric] : family.series)
        std::visit([&, &text = labels](const auto& value) { print(to, text, value); }, metric);
    }
    std::erase_if(impl_->collectors, [](const auto& collector) { return collector.expired(); });
    for (const auto& collector : impl_->collectors)
      if (auto live = collector.lock()) collectors.push_back(std::move(live));
  }
  for (const auto& collect : collectors) (*collect)(out);  // they may use the registry
  return out.text();
}

Registry& default_registry() {
  static auto* registry = new Registry;  // never destroyed: threads may count until the end
  return *registry;
}

}  // namespace plim::metrics
