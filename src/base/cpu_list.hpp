// Sets of CPUs and the kernel's notation for them, "0-3,8".
#pragma once

#include <compare>
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace plim {

// CPU numbers below kMaxCpus as a dense bit set, which is small on any machine. Iterates in
// ascending order.
class CpuSet {
 public:
  static constexpr int kMaxCpus = 1 << 16;

  CpuSet() = default;
  CpuSet(std::initializer_list<int> cpus);
  static CpuSet range(int first, int last);  // both included

  void add(int cpu);
  void remove(int cpu);
  bool contains(int cpu) const;

  bool empty() const { return words_.empty(); }

  int count() const;

  int first() const { return next(0); }  // -1 if empty

  // The lowest member that is at least `cpu`; -1 if there is none.
  int next(int cpu) const;

  bool is_subset_of(const CpuSet& other) const;
  bool intersects(const CpuSet& other) const;

  CpuSet& operator|=(const CpuSet& other);
  CpuSet& operator&=(const CpuSet& other);
  CpuSet& operator-=(const CpuSet& other);

  friend CpuSet operator|(CpuSet a, const CpuSet& b) { return a |= b; }

  friend CpuSet operator&(CpuSet a, const CpuSet& b) { return a &= b; }

  friend CpuSet operator-(CpuSet a, const CpuSet& b) { return a -= b; }

  bool operator==(const CpuSet&) const = default;

  std::string to_string() const;  // "0-3,8", "" if empty

  class Iterator {
   public:
    using value_type = int;
    using difference_type = std::ptrdiff_t;

    Iterator() = default;

    Iterator(const CpuSet* set, int cpu) : set_(set), cpu_(cpu) {}

    int operator*() const { return cpu_; }

    Iterator& operator++() {
      cpu_ = set_->next(cpu_ + 1);
      return *this;
    }

    Iterator operator++(int) {
      Iterator before = *this;
      ++*this;
      return before;
    }

    bool operator==(const Iterator& other) const { return cpu_ == other.cpu_; }

   private:
    const CpuSet* set_ = nullptr;
    int cpu_ = -1;
  };

  Iterator begin() const { return {this, first()}; }

  Iterator end() const { return {this, -1}; }

 private:
  void drop_empty_words();

  std::vector<std::uint64_t> words_;  // the last one is not zero, so that equal sets compare equal
};

// Numbers and ranges separated by commas: "0-3,8". A range may have a step: "0-31:2" is every
// second CPU (as in taskset), "0-31:2/8" the first two of every eight (as in the kernel). Ignores
// white space around the text, since kernel files end with a newline; empty text is the empty set.
Result<CpuSet> parse_cpu_list(std::string_view text);

}  // namespace plim
