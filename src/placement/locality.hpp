// Which of a pod's images a node has, in bytes.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "placement/cycle.hpp"

namespace plim::placement {

// Below this kube-scheduler's formula knows no difference.
inline constexpr std::int64_t kStockImageFloor = std::int64_t{23} * 1024 * 1024;

// All that kube-scheduler does to a name before it looks for it.
std::string stock_image_name(std::string_view image);

// What kube-scheduler's formula gives every row, 0 to 100.
std::vector<std::int64_t> stock_image_scores(const ClusterTables& cluster,
                                             const kube::PodSpec& spec,
                                             std::span<const NodeIndex> rows);

// What nodes have of the images of pods alike. Good for as long as the table of images keeps its
// version and the time is between two others; of rows that have changed it is renewed.
struct ImageView {
  // A part of an image that is there or not: a layer, or the image as a whole where its layers are
  // not known.
  struct Piece {
    std::int64_t size = 0;
    const ImageTable::Layer* layer = nullptr;
    std::vector<std::size_t> of;  // places in `wanted` of the images that it is a part of
    RowSet rows = {};
  };

  std::int64_t need = 0;
  std::vector<std::int64_t> have;  // by row
  RowSet complete;                 // rows that have every image
  RowSet fresh;                    // rows whose inventory counts
  ByReporter<RowSet> told_by;      // the same by whose inventory that is
  std::vector<ImageKeys> wanted;   // images, with the hashes of their names where nodes tell those
  std::vector<Piece> pieces;
  WallTime from{}, until = WallTime::max();

  std::int64_t missing(NodeIndex row) const { return need - have[row]; }

  // Whose inventory counts for the row.
  std::optional<InventorySource> reporter(NodeIndex row) const;
};

ImageView view_images(const Cycle& cycle);
// After pods have come to the row or gone.
void view_row_again(const Cycle& cycle, NodeIndex row, ImageView& view);

ImagesKnown images_known(const Cycle& cycle, const ImageView& view, NodeIndex row);

}  // namespace plim::placement
