// Counters, gauges and histograms. Creating one takes a lock and a search: do it once and keep the
// reference, which lives as long as the registry. Updating one is an atomic operation.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/exposition.hpp"

namespace plim::metrics {

class Counter {
 public:
  void add(std::uint64_t n = 1) { value_.fetch_add(n, std::memory_order_relaxed); }

  std::uint64_t value() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::uint64_t> value_{0};
};

class Gauge {
 public:
  void set(double value) { value_.store(value, std::memory_order_relaxed); }

  void add(double delta) { value_.fetch_add(delta, std::memory_order_relaxed); }

  double value() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<double> value_{0};
};

class Histogram {
 public:
  // Upper bounds, ascending; the last bucket, up to infinity, is added automatically.
  explicit Histogram(std::vector<double> bounds);

  void observe(double value);

  const std::vector<double>& bounds() const { return bounds_; }

  std::vector<std::uint64_t> counts() const;  // one more than bounds, not cumulative

  double sum() const { return sum_.load(std::memory_order_relaxed); }

 private:
  std::vector<double> bounds_;
  std::unique_ptr<std::atomic<std::uint64_t>[]> counts_;
  std::atomic<double> sum_{0};
};

// 1, 2, 5, 10 … times `first`, `count` bounds: for times and sizes of unknown range.
std::vector<double> spread_bounds(double first, std::size_t count);

// Thread-safe. The same name and labels return the same object; the same name with another type is
// a bug in our code.
class Registry {
 public:
  Registry();
  ~Registry();
  Registry(const Registry&) = delete;
  Registry& operator=(const Registry&) = delete;

  Counter& counter(std::string_view name, std::string_view help, const Labels& labels = {});
  Gauge& gauge(std::string_view name, std::string_view help, const Labels& labels = {});
  Histogram& histogram(std::string_view name, std::string_view help, std::vector<double> bounds,
                       const Labels& labels = {});

  // For values that are computed on demand or come and go: called at each scrape, on the thread
  // that scrapes, as long as the returned handle lives.
  using Collect = std::function<void(Exposition&)>;
  [[nodiscard]] std::shared_ptr<Collect> add_collector(Collect collect);

  std::string expose() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// The registry of the process, used if none is passed.
Registry& default_registry();

}  // namespace plim::metrics
