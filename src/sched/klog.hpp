// Lines as kube-scheduler writes them, which people and tools search for:
//   I0615 21:24:47.475673       1 pod_tries.cpp:44] "Attempting to schedule pod" pod="default/a"
// All other messages of the scheduler go to the common log.
#pragma once

#include <concepts>
#include <initializer_list>
#include <source_location>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "base/clock.hpp"

namespace plim::sched {

struct KlogField {
  KlogField(std::string_view name, std::string_view text);  // in quotes

  template <std::integral T>
  KlogField(std::string_view name, T number) : key(name), value(fmt::format("{}", number)) {}

  std::string_view key;
  std::string value;
};

// Belongs to one loop.
class Klog {
 public:
  explicit Klog(int verbosity, Clock& clock = system_clock()) : v_(verbosity), clock_(clock) {}

  bool enabled(int level) const { return level <= v_; }

  void set_verbosity(int verbosity) { v_ = verbosity; }

  // Callers check enabled() first, since formatting the fields is expensive.
  void info(std::string_view message, std::initializer_list<KlogField> fields,
            std::source_location where = std::source_location::current());
  // Many lines at once, written by flush().
  void append(std::string_view message, std::initializer_list<KlogField> fields,
              std::source_location where = std::source_location::current());
  void flush();

 private:
  int v_;
  Clock& clock_;
  std::string lines_;
};

}  // namespace plim::sched
