#include "local/store/view.hpp"

#include <algorithm>
#include <string>

namespace plim::local::store {
namespace {

// The number of keys that sort before the end of `prefix`, including its own keys.
std::size_t count_through(const Tree& tree, std::string_view prefix) {
  // The first key after them all is the prefix with its last byte incremented. Trailing bytes 0xFF
  // cannot be incremented and are dropped.
  std::string behind(prefix);
  while (!behind.empty() && static_cast<unsigned char>(behind.back()) == 0xFF) behind.pop_back();
  if (behind.empty()) return tree.size();
  behind.back() = static_cast<char>(static_cast<unsigned char>(behind.back()) + 1);
  return tree.count_before(behind);
}

}  // namespace

Page View::list(std::string_view prefix, std::string_view start, std::size_t limit) const {
  const std::string_view from = std::max(prefix, start);
  const std::size_t before = tree_.count_before(from);
  const std::size_t through = count_through(tree_, prefix);
  const std::size_t found = through > before ? through - before : 0;  // `start` may be beyond it
  Page page;
  page.entries.reserve(std::min(limit, found));
  page.remaining = found - std::min(limit, found);
  if (page.entries.capacity() == 0) return page;
  tree_.scan(from, [&](const EntryPtr& entry) {
    page.entries.push_back(entry);
    return page.entries.size() < std::min(limit, found);
  });
  return page;
}

std::size_t View::count(std::string_view prefix) const {
  return count_through(tree_, prefix) - tree_.count_before(prefix);
}

}  // namespace plim::local::store
