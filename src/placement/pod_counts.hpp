// How many pods of each node match a selector. The counts are updated when pods come and go, so
// that the cost of a decision depends on the number of nodes, not of pods.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "kube/selector.hpp"
#include "placement/node_table.hpp"
#include "placement/pod_rules.hpp"

namespace plim::placement {

// Pods that every clause matches.
struct PodMatcher {
  struct Clause {
    std::vector<std::string> namespaces;  // sorted
    bool any_namespace = false;
    kube::LabelSelector selector;
  };

  std::vector<Clause> clauses;
  bool leave_out_terminating = false;

  bool matches(const kube::Pod& pod) const;
  std::string text() const;  // equal matchers have equal texts
};

// Pods by row, only for rows that have any.
class RowCounts {
 public:
  struct Entry {
    NodeIndex row = 0;
    std::uint32_t pods = 0;
  };

  void add(NodeIndex row, int sign);

  std::span<const Entry> entries() const { return entries_; }  // by row, none with 0

 private:
  std::vector<Entry> entries_;
};

// Reads the counts of ascending rows.
class RowCountReader {
 public:
  explicit RowCountReader(const RowCounts& counts) : rest_(counts.entries()) {}

  std::uint32_t at(NodeIndex row) {
    while (!rest_.empty() && rest_.front().row < row) rest_ = rest_.subspan(1);
    return !rest_.empty() && rest_.front().row == row ? rest_.front().pods : 0;
  }

 private:
  std::span<const RowCounts::Entry> rest_;
};

// The counts of recently used matchers. The caller passes all pods when it asks for a new matcher.
// A pod that comes or goes is compared only with matchers that ask for one of its labels in its
// namespace.
class PodCounts {
 public:
  // `all` calls back with every pod and its row.
  template <class EachPod>
  const RowCounts& get(const PodMatcher& matcher, const EachPod& all) {
    std::string text = matcher.text();
    if (auto known = counters_.find(text); known != counters_.end()) {
      known->second.used = ++clock_;
      return known->second.by_row;
    }
    Counter& made = make(std::move(text), matcher);
    all([&](const kube::Pod& pod, NodeIndex row) { made.count(pod, row, 1); });
    return made.by_row;
  }

  void count(const kube::Pod& pod, NodeIndex row, int sign);

  std::size_t size() const { return counters_.size(); }

  // Every service or controller that spreads its pods has a matcher; one takes about a kilobyte,
  // and 8 bytes for every node it finds pods on.
  static constexpr std::size_t kMost = 4096;

 private:
  struct Counter {
    PodMatcher matcher;
    RowCounts by_row;
    std::vector<std::string> places;  // its keys in the index
    std::uint64_t used = 0;

    void count(const kube::Pod& pod, NodeIndex row, int sign);
  };

  Counter& make(std::string text, const PodMatcher& matcher);
  std::vector<std::string> places_for(const PodMatcher& matcher) const;
  std::size_t crowd(const std::vector<std::string>& places) const;
  void forget_oldest();

  TextMap<Counter> counters_;
  TextMap<std::vector<Counter*>> index_;  // by namespace and label
  std::uint64_t clock_ = 0;
};

// The affinity terms of placed pods and their rows. Equal terms share an entry.
class TermTable {
 public:
  enum class Kind : std::uint8_t { near, apart, prefer_near, prefer_apart };

  struct Entry {
    PodTerm term;
    Kind kind{};
    std::unordered_map<NodeIndex, std::uint32_t> by_row;
  };

  void count(const Affinity& affinity, NodeIndex row, int sign);

  const TextMap<Entry>& entries() const { return entries_; }

 private:
  void count_terms(const std::vector<PodTerm>& terms, Kind kind, NodeIndex row, int sign);

  TextMap<Entry> entries_;
};

// Numbers by label key and value, for the keys that a decision uses.
class TopologyCounts {
 public:
  explicit TopologyCounts(NodeTable& table) : table_(table) {}

  // The index of a key, for callers that use it often.
  std::size_t place_of(LabelKey key);

  // Whether the row has a value for the key at that index, and the number for it.
  bool has_value(std::size_t place, NodeIndex row) const {
    return keys_[place].column->at(row) != 0;
  }

  std::int64_t at_place(std::size_t place, NodeIndex row) const {
    return keys_[place].by_value[keys_[place].column->at(row)];
  }

  // Adds to the number at the row's value of the key. False if the row does not have the label.
  bool add(LabelKey key, NodeIndex row, std::int64_t amount);
  std::int64_t at(LabelKey key, NodeIndex row) const;

  // Over all keys.
  std::int64_t sum_at(NodeIndex row) const;
  bool any_positive_at(NodeIndex row) const;

  bool empty() const { return nonzero_ == 0; }

 private:
  struct PerKey {
    LabelKey key = 0;
    const LabelColumn* column = nullptr;
    std::vector<std::int64_t> by_value;
  };

  NodeTable& table_;
  std::vector<PerKey> keys_;
  std::size_t nonzero_ = 0;
};

}  // namespace plim::placement
