// The labels of nodes as numbers. Belongs to one thread, as the node table does.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "kube/store.hpp"
#include "placement/decision.hpp"

namespace plim::placement {

using LabelKey = std::uint32_t;
using LabelValue = std::uint32_t;  // one more than the number of its text, 0 for absent

using kube::TextMap;

// Texts and their numbers. Nodes come and go, and each has its own name among its labels: the
// number of a text without holds is reused.
class LabelTexts {
 public:
  std::uint32_t keep(std::string_view text);  // never dropped
  std::uint32_t hold(std::string_view text);  // until drop() was called as often
  void drop(std::uint32_t number);

  // One more than the text's number; 0 if it has none.
  std::uint32_t find(std::string_view text) const;

  std::string_view text(std::uint32_t number) const { return *entries_[number].text; }

  std::size_t size() const { return numbers_.size(); }

 private:
  struct Entry {
    const std::string* text = nullptr;  // owned by the map
    std::uint32_t holds = 0;
    bool kept = false;
  };

  std::uint32_t number_of(std::string_view text);

  TextMap<std::uint32_t> numbers_;
  std::vector<Entry> entries_;
  std::vector<std::uint32_t> free_;
};

// One label of all rows. Its values have small numbers from 1 on, so that counters by value can be
// plain arrays. 0 means that the node does not have the label.
class LabelColumn {
 public:
  std::uint32_t at(NodeIndex row) const { return by_row_[row]; }

  // One more than the largest number.
  std::size_t size() const { return values_.size(); }

  // 0 for a number that is not in use.
  LabelValue value(std::uint32_t number) const { return values_[number].value; }

  // How many nodes have the label.
  std::size_t nodes() const { return nodes_; }

  // 0 for a value that no node has.
  std::uint32_t find(LabelValue value) const;

  void resize(std::size_t rows) { by_row_.resize(rows, 0); }

  void set(NodeIndex row, LabelValue value);

 private:
  struct Value {
    LabelValue value = 0;
    std::uint32_t nodes = 0;
  };

  std::vector<std::uint32_t> by_row_;
  std::size_t nodes_ = 0;
  std::vector<Value> values_{{}};
  std::unordered_map<LabelValue, std::uint32_t> numbers_;
  std::vector<std::uint32_t> free_;
};

}  // namespace plim::placement
