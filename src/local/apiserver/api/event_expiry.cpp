#include "local/apiserver/api/event_expiry.hpp"

#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

#include "base/rfc3339.hpp"
#include "local/apiserver/api/events.hpp"
#include "local/apiserver/api/selection.hpp"

namespace plim::local::apiserver {
namespace {

using namespace std::chrono_literals;

constexpr Nanos kKept = 1h;
constexpr Nanos kSweepEvery = 1min;

// The newest of the times in an event.
WallTime last_written(std::string_view bytes) {
  static const std::vector<std::vector<std::string>> kTimes{{"metadata", "creationTimestamp"},
                                                            {"lastTimestamp"},
                                                            {"eventTime"},
                                                            {"series", "lastObservedTime"}};
  WallTime out{};
  for (const auto& path : kTimes)
    if (auto time = parse_rfc3339(field_text(bytes, path))) out = std::max(out, *time);
  return out;
}

}  // namespace

Task<void> EventExpiry::sweep_if_due() {
  if (core_.clock.steady() < next_) co_return;
  next_ = core_.clock.steady() + kSweepEvery;
  const WallTime old = core_.clock.wall() - kKept;
  const std::vector<store::EntryPtr> entries = core_.store.view().list(kEventsPrefix).entries;
  for (const store::EntryPtr& entry : entries) {
    if (last_written(*entry->value) > old) continue;
    store::Txn txn;
    txn.compares.push_back({.key = entry->key, .modified = entry->modified});
    txn.ops.push_back(store::Op::del(entry->key));
    // Another writer may have changed the event; the next sweep checks it again.
    auto written = co_await core_.store.txn(txn);
    if (!written && written.error().code == Code::unavailable) co_return;
  }
}

}  // namespace plim::local::apiserver
