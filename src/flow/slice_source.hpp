// The slicers of an execution and their positions.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "base/result.hpp"
#include "flow/job.hpp"
#include "flow/ledger.hpp"
#include "flow/op.hpp"

namespace plim::flow {

// Belongs to the controller's loop.
class SliceSource {
 public:
  static Result<SliceSource> open(const Job& job);

  // Continues after the slices in the ledger.
  Result<void> resume(const std::vector<LedgerChanges::Cursor>& cursors,
                      const std::vector<std::uint64_t>& last_orders);

  // Makes at most this many slices in total, including those of earlier runs.
  void limit(std::uint64_t slices) { limit_ = slices; }

  // Adds up to `count` slices and the positions of the slicers after them. Adds fewer if there are
  // no more for now.
  Result<void> make(std::size_t count, WallTime now, LedgerChanges& into);

  bool done() const;

  std::size_t slicers() const { return slicers_.size(); }

  std::optional<std::uint64_t> total() const;

 private:
  struct One {
    std::unique_ptr<Slicer> slicer;
    std::uint64_t order = 0;
    bool done = false;
  };

  SliceSource() = default;
  std::uint64_t made() const;

  std::vector<One> slicers_;
  std::optional<std::uint64_t> limit_;
  std::size_t turn_ = 0;
};

}  // namespace plim::flow
