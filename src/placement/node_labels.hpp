// The labels of all nodes as numbers, by row. Belongs to one thread, as the node table does.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "kube/types.hpp"
#include "placement/label_texts.hpp"

namespace plim::placement {

class NodeLabels {
 public:
  using Pair = std::pair<LabelKey, LabelValue>;

  void add_row();
  void set(NodeIndex row, const kube::Labels& labels);

  LabelKey key_id(std::string_view key) { return texts_.keep(key); }

  // 0 if no node has it.
  LabelValue find_value(std::string_view value) const { return texts_.find(value); }

  std::string_view text(LabelValue value) const { return texts_.text(value - 1); }

  // The number of texts in memory.
  std::size_t text_count() const { return texts_.size(); }

  // One label of every row. A column is made by the first call for its key and then kept.
  const LabelColumn& column(LabelKey key);

  LabelValue value(NodeIndex row, LabelKey key) const;

  // All labels of a row, by key.
  std::span<const Pair> of(NodeIndex row) const { return by_row_[row]; }

  // Increases when a label changes and when a node is added or removed: what was derived from
  // labels is valid while the version stays the same.
  std::uint64_t version() const { return version_; }

  void count_change() { ++version_; }

 private:
  LabelTexts texts_;
  std::uint64_t version_ = 1;
  std::vector<std::vector<Pair>> by_row_;
  std::unordered_map<LabelKey, LabelColumn> columns_;
};

}  // namespace plim::placement
