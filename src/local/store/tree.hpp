// An ordered, persistent map: versions share their common parts.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string_view>

#include "local/store/entry.hpp"

namespace plim::local::store {

// An immutable version of the map: cheap to copy, readable from any thread. A change creates a new
// version and copies one path, O(log n). Balanced by weight, so the sizes that keep it balanced
// also count the keys of a range.
class Tree {
 public:
  Tree() = default;
  // `entries` must be sorted by key.
  static Tree from_sorted(std::span<const EntryPtr> entries);

  EntryPtr find(std::string_view key) const;  // null if missing
  std::size_t size() const;
  std::size_t count_before(std::string_view key) const;
  // Visits entries from `start` on, in order, until `visit` returns false.
  void scan(std::string_view start, const std::function<bool(const EntryPtr&)>& visit) const;

  Tree with(EntryPtr entry) const;  // adds or replaces it
  Tree without(std::string_view key) const;

  // For tests: true if it is ordered and balanced, with correct sizes.
  bool is_sound() const;

 private:
  struct Node;
  using NodePtr = std::shared_ptr<const Node>;
  struct Balance;

  explicit Tree(NodePtr root) : root_(std::move(root)) {}

  NodePtr root_;
};

}  // namespace plim::local::store
