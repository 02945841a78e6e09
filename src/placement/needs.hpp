// Which kinds of objects the plugins of a profile read besides pods and nodes. Other kinds need no
// watch.
#pragma once

#include "placement/profile.hpp"

namespace plim::placement {

struct Needs {
  bool namespaces = false;
  bool owners = false;   // Services and controllers, whose pods are spread
  bool storage = false;  // claims, volumes, classes
  bool binding = false;  // CSI drivers and nodes, storage capacities
  bool limits = false;   // CSI drivers and nodes, attachments
  bool budgets = false;  // of disruptions

  // Everything that one of the two needs.
  Needs& operator|=(const Needs& other);

  bool operator==(const Needs&) const = default;
};

Needs needs_of(const Profile& profile);

}  // namespace plim::placement
