// What all parts of the API server share. For files of apiserver/api and for hooks.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "base/clock.hpp"
#include "base/random.hpp"
#include "base/task.hpp"
#include "local/apiserver/api/hooks.hpp"
#include "local/apiserver/api/kinds.hpp"
#include "local/apiserver/api/selection_memory.hpp"
#include "local/apiserver/api/watch_lines.hpp"
#include "local/store/store.hpp"

namespace plim::local::apiserver {

// Belongs to the store's loop.
struct Core {
  Core(Executor loop_, Clock& clock_, store::Store& store_)
      : loop(std::move(loop_)), clock(clock_), store(store_) {}

  Executor loop;
  Clock& clock;
  store::Store& store;
  Random& random = system_random();
  Kinds kinds;
  WatchLines lines;
  SelectionMemory selections;
  Hooks hooks;
};

}  // namespace plim::local::apiserver
