// Which kinds of objects the plugins of a configuration look at, beside pods and nodes: the others
// are not watched.
#pragma once

#include "sched/config.hpp"

namespace plim::sched {

struct Needs {
  bool namespaces = false;
  bool owners = false;   // Services and controllers, whose pods are spread
  bool storage = false;  // claims, volumes, classes
  bool budgets = false;  // of disruptions

  bool operator==(const Needs&) const = default;
};

Needs needs_of(const Configuration& config);

}  // namespace plim::sched
