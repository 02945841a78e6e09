// Which rows of the node table changed lately. A reader that has looked at all rows once looks
// again only at those that changed since. Belongs to one thread, as the node table does.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "placement/decision.hpp"

namespace plim::placement {

class RowChanges {
 public:
  void add(NodeIndex row) {
    constexpr std::size_t kMost = 8192;
    if (rows_.size() >= kMost) {
      rows_.erase(rows_.begin(), rows_.begin() + kMost / 2);
      forgotten_ += kMost / 2;
    }
    rows_.push_back(row);
  }

  // How many changes there have been.
  std::uint64_t count() const { return forgotten_ + rows_.size(); }

  // The rows that changed after the count was `count`, with repeats; nothing if those changes are
  // forgotten.
  std::optional<std::span<const NodeIndex>> since(std::uint64_t count) const {
    if (count < forgotten_) return std::nullopt;
    return std::span(rows_).subspan(count - forgotten_);
  }

 private:
  std::uint64_t forgotten_ = 0;
  std::vector<NodeIndex> rows_;
};

}  // namespace plim::placement
