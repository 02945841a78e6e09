#include "local/apiserver/api/collection_deletion.hpp"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "base/event.hpp"

namespace plim::local::apiserver {
namespace {

constexpr std::size_t kAtOnce = 128;

}  // namespace

// The deletion of one collection.
struct CollectionDeleter::Run {
  Run(const Executor& loop, DeleteRequest what, std::vector<store::EntryPtr> which)
      : request(std::move(what)), entries(std::move(which)), ended(loop) {}

  DeleteRequest request;
  std::vector<store::EntryPtr> entries;  // null if it was deleted already
  std::size_t next = 0;
  std::size_t workers = 0;
  std::optional<ApiError> failure = {};
  Event ended;

  // The key ends with namespace and name.
  DeleteRequest request_for(std::string_view key) const {
    DeleteRequest out = request;
    key.remove_prefix(request.kind->prefix.size());
    if (const std::size_t slash = key.find('/'); slash != key.npos) {
      out.ns = key.substr(0, slash);
      key.remove_prefix(slash + 1);
    }
    out.name = key;
    return out;
  }

  // Counts one worker until it ends, in whatever way.
  class Worker {
   public:
    explicit Worker(Run& run) : run_(run) { ++run_.workers; }

    ~Worker() {
      if (--run_.workers == 0) run_.ended.notify();
    }

    Worker(const Worker&) = delete;
    Worker& operator=(const Worker&) = delete;

   private:
    Run& run_;
  };

  // Marks the run as cancelled if the caller is, so that no further deletion starts.
  class Asked {
   public:
    explicit Asked(Run& run) : run_(run) {}

    ~Asked() { run_.next = run_.entries.size(); }

    Asked(const Asked&) = delete;
    Asked& operator=(const Asked&) = delete;

   private:
    Run& run_;
  };
};

Task<void> CollectionDeleter::work(std::shared_ptr<Run> run) {
  const Run::Worker counted(*run);
  while (!run->failure && run->next < run->entries.size()) {
    store::EntryPtr& entry = run->entries[run->next++];
    DeleteRequest request = run->request_for(entry->key);
    auto done = co_await deleter_.remove(std::move(request));
    if (done) continue;
    entry = nullptr;
    if (done.error().code != 404 && !run->failure) run->failure = std::move(done).error();
  }
}

Task<ApiResult<std::vector<store::EntryPtr>>> CollectionDeleter::remove(
    DeleteRequest request, std::vector<store::EntryPtr> entries) {
  auto run = std::make_shared<Run>(core_.loop, std::move(request), std::move(entries));
  const Run::Asked asked(*run);
  const std::size_t workers = std::min(kAtOnce, run->entries.size());
  for (std::size_t i = 0; i < workers; ++i) tasks_.spawn("delete a collection", work(run));
  while (run->workers > 0) co_await run->ended.wait();
  if (run->failure) co_return std::move(*run->failure);
  if (run->next < run->entries.size())
    co_return ApiResult<std::vector<store::EntryPtr>>(
        fail(Code::unavailable, "the server is stopping"));
  std::erase(run->entries, nullptr);
  co_return std::move(run->entries);
}

}  // namespace plim::local::apiserver
