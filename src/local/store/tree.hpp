// An ordered map whose versions share what they have in common.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string_view>

#include "local/store/entry.hpp"

namespace plim::local::store {

// A frozen version of the map: cheap to copy, readable from any thread for as long as somebody
// holds it. Changing it makes a new version and copies one path, O(log n). Balanced by weight, so
// that the sizes which keep it balanced also answer how many keys a range has.
class Tree {
 public:
  Tree() = default;
  // `entries` ascend by key.
  static Tree from_sorted(std::span<const EntryPtr> entries);

  EntryPtr find(std::string_view key) const;  // none: not there
  std::size_t size() const;
  std::size_t count_before(std::string_view key) const;
  // Visits entries from `start` on, in order, until `visit` returns false.
  void scan(std::string_view start, const std::function<bool(const EntryPtr&)>& visit) const;

  Tree with(EntryPtr entry) const;  // added, or in place of the one with its key
  Tree without(std::string_view key) const;

  // For tests: ordered, balanced, sizes right.
  bool is_sound() const;

 private:
  struct Node;
  using NodePtr = std::shared_ptr<const Node>;
  struct Balance;

  explicit Tree(NodePtr root) : root_(std::move(root)) {}

  NodePtr root_;
};

}  // namespace plim::local::store
