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

// kube-scheduler's formula scores a node 0 if its images are smaller in sum than this.
inline constexpr std::int64_t kStockImageFloor = std::int64_t{23} * 1024 * 1024;

// Normalizes an image name as kube-scheduler does before it looks it up.
std::string stock_image_name(std::string_view image);

// The score of every row by kube-scheduler's formula, 0 to 100.
std::vector<std::int64_t> stock_image_scores(const ClusterTables& cluster,
                                             const kube::PodSpec& spec,
                                             std::span<const NodeIndex> rows);

// How much of the images of a class of pods each node has. Valid while the version of the image
// table stays the same and the time is between `from` and `until`. view_row_again() renews a row
// that has changed.
struct ImageView {
  // A part of an image that a node has or does not have: a layer, or the whole image if its layers
  // are unknown.
  struct Piece {
    std::int64_t size = 0;
    const ImageTable::Layer* layer = nullptr;
    std::vector<std::size_t> of;  // indexes in `wanted` of the images that contain it
    RowSet rows = {};
  };

  std::int64_t need = 0;
  std::vector<std::int64_t> have;  // by row
  RowSet complete;                 // rows that have every image
  RowSet fresh;                    // rows with an inventory that is used
  ByReporter<RowSet> told_by;      // the same rows by reporter
  std::vector<ImageKeys> wanted;   // images, with hashes of their names if annotations use these
  std::vector<Piece> pieces;
  WallTime from{}, until = WallTime::max();

  std::int64_t missing(NodeIndex row) const { return need - have[row]; }

  // The reporter whose inventory is used for the row.
  std::optional<InventorySource> reporter(NodeIndex row) const;
};

ImageView view_images(const Cycle& cycle);
// Call it after pods were added to the row or removed.
void view_row_again(const Cycle& cycle, NodeIndex row, ImageView& view);

ImagesKnown images_known(const Cycle& cycle, const ImageView& view, NodeIndex row);

}  // namespace plim::placement
