// What pods of equal shape share: which nodes take them and how these score, as far as a node's own
// row tells. After a placement one row has changed, and only that is looked at again. What depends
// on other pods or nodes (spreading, affinity between pods, volumes, the highest of a column) is
// judged anew for each pod, on top of this.
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

  // Brings the verdicts of the filters up to date, which must all be by row. Not while a pod is
  // imagined somewhere else.
  void sieve(Cycle& cycle, std::span<FilterStep> filters);

  // By row, as of the last sieve(); those of nodes that are not live mean nothing.
  const std::vector<Verdict>& verdict() const { return verdict_; }

  // The rows that none of them refuses, ascending.
  const std::vector<NodeIndex>& fitting() const { return fitting_; }

  const ImageView& image_view(const Cycle& cycle);

  // What the scores by row add up to, by row, brought up to date for those that fit; kOdd where one
  // is not within 0 and 100.
  const std::vector<std::int64_t>& totals(Cycle& cycle);

  static constexpr std::int64_t kOdd = -1;

 private:
  // How much of the changes in the table of nodes something derived from it has seen.
  struct Seen {
    std::uint64_t changes = 0, labels = 0;

    // The live rows to look at again, ascending, none for all of them. They count as seen.
    std::optional<std::vector<NodeIndex>> catch_up(const NodeTable& table);
  };

  void add_up(Cycle& cycle, std::span<const NodeIndex> rows);
  void add_images(Cycle& cycle, std::span<const NodeIndex> rows);

  Seen sieved_, viewed_, added_;
  std::vector<Verdict> verdict_;
  std::vector<NodeIndex> fitting_;
  ImageView view_;
  std::uint64_t image_version_ = 0;            // of the table, when the view was made
  std::uint64_t views_ = 0, scored_view_ = 0;  // how many were made, and the one totals are by
  std::vector<std::int64_t> base_, totals_;    // without the images, and with them
};

// The classes of the pods that came lately.
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

  // Kinds of pods that wait in turn must all be there, or each decision starts anew; a row takes
  // about 30 bytes of each.
  static std::size_t most(std::size_t rows);
  std::size_t number_of(const Profile& profile);

  std::vector<Profile> profiles_;  // few: by their content, since files are read again
  TextMap<Entry> classes_;         // by all that they compare and score by
  std::uint64_t clock_ = 0;
};

}  // namespace plim::placement
