// Deleting everything that a list found.
#pragma once

#include <memory>
#include <vector>

#include "base/task.hpp"
#include "local/apiserver/api/core.hpp"
#include "local/apiserver/api/deletion.hpp"

namespace plim::local::apiserver {

// Many objects at a time: each waits for the disk, and so they wait together. Belongs to the
// store's loop; co_await stop() before destroying it.
class CollectionDeleter {
 public:
  CollectionDeleter(Core& core, Deleter& deleter)
      : core_(core), deleter_(deleter), tasks_(core.loop) {}

  // `request` for each of the entries, which are of its kind. Hands back those that were still
  // there, in their order. The first failure ends it; what is under way then is still done.
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
