// Events are news: they go after an hour.
#pragma once

#include "base/task.hpp"
#include "local/apiserver/api/core.hpp"

namespace plim::local::apiserver {

// Belongs to the store's loop.
class EventExpiry {
 public:
  explicit EventExpiry(Core& core) : core_(core) {}

  // Deletes those that nobody has written for an hour. Called when events are written or listed, it
  // looks once a minute at most: a cluster where nothing happens needs no timer for it.
  Task<void> sweep_if_due();

 private:
  Core& core_;
  SteadyTime next_ = {};
};

}  // namespace plim::local::apiserver
