// Deletes everything that a list returned.
#pragma once

#include <memory>
#include <vector>

#include "base/task.hpp"
#include "local/apiserver/api/core.hpp"
#include "local/apiserver/api/deletion.hpp"

namespace plim::local::apiserver {

// Deletes many objects at a time, so that they share the syncs of the log. Belongs to the store's
// loop; co_await stop() before destroying it.
class CollectionDeleter {
 public:
  CollectionDeleter(Core& core, Deleter& deleter)
      : core_(core), deleter_(deleter), tasks_(core.loop) {}

  // Applies `request` to each of the entries, which are of its kind. Returns those that still
  // existed, in their order. Stops at the first failure; deletions under way are completed.
  Task<ApiResult<std::vector<store::EntryPtr>>> remove(DeleteRequest request,
                                                       std::vector<store::EntryPtr> entries);

  Task<void> stop() { return tasks_.stop(); }

 private:
  struct Run;
  Task<void> work(std::shared_ptr<Run> run);

  Core& core_;
  Deleter& deleter_;
  TaskGroup tasks_;
};

}  // namespace plim::local::apiserver
