#include "local/store/tree.hpp"

#include <utility>

#include "base/result.hpp"

namespace plim::local::store {

struct Tree::Node {
  NodePtr left;
  NodePtr right;
  EntryPtr entry;
  std::size_t size = 1;
};

// Weight-balanced trees as in "Balancing weight-balanced trees" (Hirai and Yamamoto, 2011), with
// the parameters that they proved correct: no side weighs more than three times the other.
struct Tree::Balance {
  static constexpr std::size_t kDelta = 3;
  static constexpr std::size_t kRatio = 2;

  static std::size_t size(const NodePtr& node) { return node ? node->size : 0; }

  static std::size_t weight(const NodePtr& node) { return size(node) + 1; }

  static bool too_heavy(const NodePtr& side, const NodePtr& other) {
    return weight(side) > kDelta * weight(other);
  }

  static NodePtr make(NodePtr left, EntryPtr entry, NodePtr right) {
    const std::size_t total = size(left) + size(right) + 1;
    return std::make_shared<const Node>(
        Node{std::move(left), std::move(right), std::move(entry), total});
  }

  // Like make(), for sides that one insertion or removal may have unbalanced.
  static NodePtr join(NodePtr left, EntryPtr entry, NodePtr right) {
    if (too_heavy(right, left)) {
      const Node& r = *right;
      if (weight(r.left) < kRatio * weight(r.right))
        return make(make(std::move(left), std::move(entry), r.left), r.entry, r.right);
      const Node& middle = *r.left;
      return make(make(std::move(left), std::move(entry), middle.left), middle.entry,
                  make(middle.right, r.entry, r.right));
    }
    if (too_heavy(left, right)) {
      const Node& l = *left;
      if (weight(l.right) < kRatio * weight(l.left))
        return make(l.left, l.entry, make(l.right, std::move(entry), std::move(right)));
      const Node& middle = *l.right;
      return make(make(l.left, l.entry, middle.left), middle.entry,
                  make(middle.right, std::move(entry), std::move(right)));
    }
    return make(std::move(left), std::move(entry), std::move(right));
  }

  static NodePtr insert(const NodePtr& node, EntryPtr entry) {
    if (!node) return make({}, std::move(entry), {});
    const int order = entry->key.compare(node->entry->key);
    if (order < 0) return join(insert(node->left, std::move(entry)), node->entry, node->right);
    if (order > 0) return join(node->left, node->entry, insert(node->right, std::move(entry)));
    return make(node->left, std::move(entry), node->right);
  }

  static NodePtr remove_first(const NodePtr& node, EntryPtr& first) {
    if (!node->left) {
      first = node->entry;
      return node->right;
    }
    return join(remove_first(node->left, first), node->entry, node->right);
  }

  static NodePtr remove(const NodePtr& node, std::string_view key) {
    if (!node) return {};
    const int order = key.compare(node->entry->key);
    if (order < 0) return join(remove(node->left, key), node->entry, node->right);
    if (order > 0) return join(node->left, node->entry, remove(node->right, key));
    if (!node->left) return node->right;
    if (!node->right) return node->left;
    EntryPtr next;
    NodePtr right = remove_first(node->right, next);
    return join(node->left, std::move(next), std::move(right));
  }

  static NodePtr build(std::span<const EntryPtr> entries) {
    if (entries.empty()) return {};
    const std::size_t middle = entries.size() / 2;
    return make(build(entries.first(middle)), entries[middle], build(entries.subspan(middle + 1)));
  }

  // False if the visitor has stopped.
  static bool scan(const Node* node, std::string_view start,
                   const std::function<bool(const EntryPtr&)>& visit) {
    for (; node != nullptr; node = node->right.get()) {
      if (node->entry->key < start) continue;
      if (!scan(node->left.get(), start, visit) || !visit(node->entry)) return false;
    }
    return true;
  }

  static bool is_sound(const NodePtr& node, const std::string*& last) {
    if (!node) return true;
    if (!is_sound(node->left, last)) return false;
    if (last != nullptr && *last >= node->entry->key) return false;
    last = &node->entry->key;
    return is_sound(node->right, last) && node->size == size(node->left) + size(node->right) + 1 &&
           !too_heavy(node->left, node->right) && !too_heavy(node->right, node->left);
  }
};

Tree Tree::from_sorted(std::span<const EntryPtr> entries) {
  return Tree(Balance::build(entries));
}

EntryPtr Tree::find(std::string_view key) const {
  for (const Node* node = root_.get(); node != nullptr;) {
    const int order = key.compare(node->entry->key);
    if (order == 0) return node->entry;
    node = (order < 0 ? node->left : node->right).get();
  }
  return {};
}

std::size_t Tree::size() const {
  return Balance::size(root_);
}

std::size_t Tree::count_before(std::string_view key) const {
  std::size_t count = 0;
  for (const Node* node = root_.get(); node != nullptr;) {
    if (key <= node->entry->key) {
      node = node->left.get();
    } else {
      count += Balance::size(node->left) + 1;
      node = node->right.get();
    }
  }
  return count;
}

void Tree::scan(std::string_view start, const std::function<bool(const EntryPtr&)>& visit) const {
  Balance::scan(root_.get(), start, visit);
}

Tree Tree::with(EntryPtr entry) const {
  return Tree(Balance::insert(root_, std::move(entry)));
}

Tree Tree::without(std::string_view key) const {
  return find(key) ? Tree(Balance::remove(root_, key)) : *this;
}

bool Tree::is_sound() const {
  const std::string* last = nullptr;
  return Balance::is_sound(root_, last);
}

}  // namespace plim::local::store
