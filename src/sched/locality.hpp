// Which of a pod's images a node has, in bytes.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sched/cycle.hpp"

namespace plim::sched {

// Below this kube-scheduler's formula knows no difference.
inline constexpr std::int64_t kStockImageFloor = std::int64_t{23} * 1024 * 1024;

// All that kube-scheduler does to a name before it looks for it.
std::string stock_image_name(std::string_view image);

// What kube-scheduler's formula gives every row, 0 to 100.
std::vector<std::int64_t> stock_image_scores(const Cluster& cluster, const kube::PodSpec& spec,
                                             std::span<const NodeIndex> rows);

// Made once per decision, when somebody asks.
struct ImageView {
  std::int64_t need = 0;
  std::vector<std::int64_t> have;  // by row
  RowSet complete;                 // rows that have every image
  RowSet fresh;                    // rows whose inventory counts
  ByReporter<RowSet> told_by;      // the same by whose inventory that is

  std::int64_t missing(NodeIndex row) const { return need - have[row]; }

  // Whose inventory counts for the row.
  std::optional<InventorySource> reporter(NodeIndex row) const;
};

ImageView view_images(Cycle& cycle);

ImagesKnown images_known(const Cycle& cycle, const ImageView& view, NodeIndex row);

}  // namespace plim::sched
