// A set of rows of the node table, one bit each.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

#include "placement/decision.hpp"

namespace plim::placement {

class RowSet {
 public:
  // The rows below `rows` for which `member` returns true.
  template <class Member>
  static RowSet of(std::size_t rows, Member member) {
    RowSet out;
    out.words_.resize((rows + 63) / 64, 0);
    for (std::size_t row = 0; row < rows; ++row)
      out.words_[row / 64] |= std::uint64_t{member(static_cast<NodeIndex>(row))} << (row % 64);
    return out;
  }

  bool has(NodeIndex row) const {
    return row / 64 < words_.size() && (words_[row / 64] >> (row % 64) & 1) != 0;
  }

  void set(NodeIndex row, bool member) {
    if (words_.size() <= row / 64) {
      if (!member) return;
      words_.resize(row / 64 + 1u, 0);
    }
    const std::uint64_t bit = std::uint64_t{1} << (row % 64);
    words_[row / 64] = member ? words_[row / 64] | bit : words_[row / 64] & ~bit;
  }

  std::size_t count() const {
    std::size_t out = 0;
    for (std::uint64_t word : words_) out += static_cast<std::size_t>(std::popcount(word));
    return out;
  }

  bool empty() const { return count() == 0; }

  // Adds the rows of `other` that are (or are not) in `mask`.
  void add(const RowSet& other, const RowSet& mask, bool in_mask) {
    if (words_.size() < other.words_.size()) words_.resize(other.words_.size(), 0);
    for (std::size_t i = 0; i < other.words_.size(); ++i) {
      std::uint64_t masked = i < mask.words_.size() ? mask.words_[i] : 0;
      words_[i] |= other.words_[i] & (in_mask ? masked : ~masked);
    }
  }

  void add(const RowSet& other) { add(other, RowSet(), false); }

  // Keeps only rows that are in `other` too.
  void keep(const RowSet& other) {
    for (std::size_t i = 0; i < words_.size(); ++i)
      words_[i] &= i < other.words_.size() ? other.words_[i] : 0;
  }

  // Calls the function with every member, ascending.
  template <class Visit>
  void each(Visit visit) const {
    for (std::size_t i = 0; i < words_.size(); ++i)
      for (std::uint64_t word = words_[i]; word != 0; word &= word - 1)
        visit(static_cast<NodeIndex>(i * 64 + static_cast<std::size_t>(std::countr_zero(word))));
  }

 private:
  std::vector<std::uint64_t> words_;
};

}  // namespace plim::placement
