#include "local/store/maintenance.hpp"

#include <memory>
#include <optional>
#include <utility>

#include "base/clock.hpp"
#include "local/store/layout.hpp"
#include "local/store/store_snapshot.hpp"
#include "local/store/txn.hpp"

namespace plim::local::store {
namespace {

struct Loaded {
  View view;
  StoreReport report;
};

Result<Loaded> load(const std::string& directory) {
  PLIM_TRY(const Snapshot snapshot, read_newest_snapshot(directory));
  View view = snapshot.view;
  std::uint64_t live_bytes = snapshot.live_bytes;
  auto visit = [&](JournalPosition, std::string_view record) -> Result<void> {
    PLIM_TRY(std::optional<Applied> applied, replay(record, view, live_bytes));
    if (!applied) return {};
    view = View(view.revision() + 1, std::move(applied->tree));
    live_bytes = applied->live_bytes;
    return {};
  };
  PLIM_TRY(JournalScan log, scan_journal(log_files(directory, snapshot.next_segment), visit));
  StoreReport report{.revision = view.revision(),
                     .entries = view.tree().size(),
                     .live_bytes = live_bytes,
                     .snapshot = snapshot.view.revision(),
                     .log = std::move(log)};
  return Loaded{std::move(view), std::move(report)};
}

}  // namespace

Result<StoreReport> verify_store(const std::string& directory) {
  PLIM_TRY(Loaded loaded, load(directory));
  return std::move(loaded.report);
}

Result<void> repair_store(const std::string& directory, JournalPosition at) {
  PLIM_TRY(const FileLock lock, lock_store(directory));
  PLIM_TRY(const Snapshot snapshot, read_newest_snapshot(directory));
  return cut_journal(log_files(directory, snapshot.next_segment), at);
}

Result<StoreReport> dump_store(const std::string& directory, std::string_view prefix,
                               const std::function<void(const Entry&)>& visit) {
  PLIM_TRY(Loaded loaded, load(directory));
  const Page page = loaded.view.list(prefix);
  for (const EntryPtr& entry : page.entries) visit(*entry);
  return std::move(loaded.report);
}

Task<Result<StoreStats>> compact_store(std::string directory) {
  Executor loop = co_await current_loop();
  StoreOptions options{.directory = std::move(directory)};
  PLIM_CO_TRY(std::unique_ptr<Store> store,
              Store::open(std::move(loop), system_clock(), std::move(options)));
  auto compacted = co_await store->compact();
  co_await store->close();
  if (!compacted) co_return compacted.error();
  co_return store->stats();
}

}  // namespace plim::local::store
