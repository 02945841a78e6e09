// A cache for pods of equal shape: which nodes fit them and how these score, as far as it depends
// on the node's own row. After a placement one row has changed, and only that row is computed
// again. What depends on other pods or nodes (spreading, affinity between pods, volumes, the
// highest of a column) is computed for each pod, on top of the cache.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "placement/cycle.hpp"
#include "placement/locality.hpp"

namespace plim::placement {

// Belongs to one thread, as the tables do.
class NodeClass {
 public:
  // Reasons keep their numbers from one pod to the next.
  Verdicts verdicts;

  // Updates the verdicts of the filters, which must all depend on the row only. Do not call it
  // while a pod is imagined on another row.
  void sieve(Cycle& cycle, std::span<FilterStep> filters);

  // By row, as of the last sieve(); undefined for nodes that are not live.
  const std::vector<Verdict>& verdict() const { return verdict_; }

  // The rows that no filter rejects, ascending.
  const std::vector<NodeIndex>& fitting() const { return fitting_; }

  const ImageView& image_view(const Cycle& cycle);

  // By row, the sum of the scores that depend on the row only, up to date for rows that fit; kOdd
  // if one of the scores is not within 0 and 100.
  const std::vector<std::int64_t>& totals(Cycle& cycle);

  static constexpr std::int64_t kOdd = -1;

 private:
  // Up to which change of the node table a derived value is current.
  struct Seen {
    std::uint64_t changes = 0, labels = 0;

    // Returns the live rows that changed since the last call, ascending; nothing means all rows.
    std::optional<std::vector<NodeIndex>> catch_up(const NodeTable& table);
  };

  void add_up(Cycle& cycle, std::span<const NodeIndex> rows);
  void add_images(Cycle& cycle, std::span<const NodeIndex> rows);

  Seen sieved_, viewed_, added_;
  std::vector<Verdict> verdict_;
  std::vector<NodeIndex> fitting_;
  ImageView view_;
  std::uint64_t image_version_ = 0;            // of the image table when the view was made
  std::uint64_t views_ = 0, scored_view_ = 0;  // how many were made, and the one that totals_ uses
  std::vector<std::int64_t> base_, totals_;    // without image scores, and with them
};

// The classes of recent pods.
class NodeClasses {
 public:
  // Valid until the next call.
  NodeClass& of(const Incoming& in, const Profile& profile, const ClusterTables& cluster);

  void clear();

 private:
  struct Entry {
    NodeClass kept;
    std::uint64_t used = 0;
  };

  // The limit must allow for all shapes of pods that wait at the same time, or each decision starts
  // from nothing. A class takes about 30 bytes per row.
  static std::size_t most(std::size_t rows);
  std::size_t number_of(const Profile& profile);

  std::vector<Profile> profiles_;  // compared by content, since files are read again; few
  TextMap<Entry> classes_;         // by everything that their filters and scores read
  std::uint64_t clock_ = 0;
};

}  // namespace plim::placement
