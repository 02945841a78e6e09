// Which kinds of objects the plugins of a profile read besides pods and nodes: the others need not
// be watched.
#pragma once

#include "placement/profile.hpp"

namespace plim::placement {

struct Needs {
  bool namespaces = false;
  bool owners = false;   // Services and controllers, whose pods are spread
  bool storage = false;  // claims, volumes, classes
  bool budgets = false;  // of disruptions

  // What either of them needs.
  Needs& operator|=(const Needs& other);

  bool operator==(const Needs&) const = default;
};

Needs needs_of(const Profile& profile);

}  // namespace plim::placement
