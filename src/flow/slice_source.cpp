#include "flow/slice_source.hpp"

#include <algorithm>

#include "base/random.hpp"

namespace plim::flow {

Result<SliceSource> SliceSource::open(const Job& job) {
  SliceSource out;
  const OpConfig& reader = job.operations.front();
  for (unsigned i = 0; i < job.slicers; ++i) {
    ReaderSetup setup{.options = reader.options,
                      .last_operation = job.operations.back().options,
                      .persistent = job.persistent,
                      .index = i,
                      .count = job.slicers};
    auto made = reader.entry->slicer(setup);
    if (!made) return made.error().with_context(reader.entry->name);
    out.slicers_.push_back({.slicer = std::move(*made)});
  }
  return out;
}

Result<void> SliceSource::resume(const std::vector<LedgerChanges::Cursor>& cursors,
                                 const std::vector<std::uint64_t>& last_orders) {
  for (std::size_t i = 0; i < slicers_.size(); ++i) slicers_[i].order = last_orders.at(i);
  for (const auto& cursor : cursors) {
    if (cursor.slicer >= slicers_.size())
      return fail(Code::invalid, "the ledger has more slicers than the job");
    PLIM_CHECK(slicers_[cursor.slicer].slicer->restore(cursor.position));
    slicers_[cursor.slicer].done = cursor.done;
  }
  return {};
}

std::uint64_t SliceSource::made() const {
  std::uint64_t sum = 0;
  for (const One& one : slicers_) sum += one.order;
  return sum;
}

Result<void> SliceSource::make(std::size_t count, WallTime now, LedgerChanges& into) {
  std::vector<bool> touched(slicers_.size(), false);
  std::uint64_t made_before = made();
  if (limit_) count = std::min<std::uint64_t>(count, *limit_ - std::min(*limit_, made_before));
  // Takes turns, so that all slicers make progress.
  for (std::size_t idle = 0; count > 0 && idle < slicers_.size();) {
    const auto index = turn_++ % slicers_.size();
    One& one = slicers_[index];
    if (one.done) {
      ++idle;
      continue;
    }
    touched[index] = true;
    PLIM_TRY(std::optional<json::object> request, one.slicer->next());
    if (!request) {
      one.done = true;
      continue;
    }
    idle = 0;
    --count;
    into.created.push_back({.key = {static_cast<std::uint32_t>(index), ++one.order},
                            .id = make_uuid(),
                            .request = to_json(json::value(std::move(*request))),
                            .created = now});
  }
  for (std::size_t i = 0; i < slicers_.size(); ++i)
    if (touched[i])
      into.cursors.push_back({.slicer = static_cast<std::uint32_t>(i),
                              .position = slicers_[i].slicer->cursor(),
                              .done = slicers_[i].done});
  return {};
}

bool SliceSource::done() const {
  if (limit_ && made() >= *limit_) return true;
  return std::ranges::all_of(slicers_, [](const One& one) { return one.done; });
}

std::optional<std::uint64_t> SliceSource::total() const {
  std::uint64_t sum = 0;
  for (const One& one : slicers_) {
    auto total = one.slicer->total_slices();
    if (!total && !one.done)
      return limit_ ? std::optional(std::max(*limit_, made())) : std::nullopt;
    sum += total.value_or(one.order);
  }
  // An earlier run without a limit may have made more slices.
  return limit_ ? std::max(std::min(*limit_, sum), made()) : sum;
}

}  // namespace plim::flow
