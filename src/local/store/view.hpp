// The whole store at one revision.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>
#include <utility>
#include <vector>

#include "local/store/entry.hpp"
#include "local/store/tree.hpp"

namespace plim::local::store {

struct Page {
  std::vector<EntryPtr> entries;
  std::size_t remaining = 0;  // number of keys with the prefix after this page
};

// Keeps its revision alive; a list that is read in pages holds one. Any thread may use a copy.
class View {
 public:
  static constexpr std::size_t kNoLimit = std::numeric_limits<std::size_t>::max();

  View() = default;

  View(Revision revision, Tree tree) : revision_(revision), tree_(std::move(tree)) {}

  Revision revision() const { return revision_; }

  const Tree& tree() const { return tree_; }

  EntryPtr get(std::string_view key) const { return tree_.find(key); }

  // Keys with `prefix`, in ascending byte order, from `start` on (empty: from the first). The page
  // after one that ends with key k starts at k + '\0'.
  Page list(std::string_view prefix, std::string_view start = {},
            std::size_t limit = kNoLimit) const;
  std::size_t count(std::string_view prefix) const;

 private:
  Revision revision_ = 0;
  Tree tree_;
};

}  // namespace plim::local::store
