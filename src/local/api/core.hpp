// What every part of the API server shares. For files of local/api and for what hooks into it.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "base/clock.hpp"
#include "base/random.hpp"
#include "base/task.hpp"
#include "local/api/hooks.hpp"
#include "local/api/kinds.hpp"
#include "local/api/selection_memory.hpp"
#include "local/api/watch_lines.hpp"
#include "local/store/store.hpp"

namespace plim::local {

// Belongs to the store's loop.
struct Core {
  Core(Executor loop_, Clock& clock_, Store& store_)
      : loop(std::move(loop_)), clock(clock_), store(store_) {}

  Executor loop;
  Clock& clock;
  Store& store;
  Random& random = system_random();
  Kinds kinds;
  WatchLines lines;
  SelectionMemory selections;
  Hooks hooks;
};

}  // namespace plim::local
