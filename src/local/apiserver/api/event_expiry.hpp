// Deletes events after an hour.
#pragma once

#include "base/task.hpp"
#include "local/apiserver/api/core.hpp"

namespace plim::local::apiserver {

// Belongs to the store's loop.
class EventExpiry {
 public:
  explicit EventExpiry(Core& core) : core_(core) {}

  // Deletes events that were not written for an hour. Called when events are written or listed, and
  // does nothing if it ran in the last minute; so an idle cluster needs no timer.
  Task<void> sweep_if_due();

 private:
  Core& core_;
  SteadyTime next_ = {};
};

}  // namespace plim::local::apiserver
