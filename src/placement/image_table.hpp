// Which nodes have which images and layers, from the nodes' status, from inventories, and from
// pods: a node has the images of its pods or gets them soon. Belongs to one thread.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/clock.hpp"
#include "base/result.hpp"
#include "kube/types.hpp"
#include "loop/image_inventory.hpp"
#include "placement/node_table.hpp"
#include "placement/row_set.hpp"

namespace plim::placement {

// The names one image can be looked up by, best first: repository@digest or name:tag, then the
// digest in any repository; or an image id alone.
using ImageKeys = std::vector<std::string>;

// The sources of inventories, the most trusted first. The node's status is not one of them.
inline constexpr std::array kReporters{InventorySource::Crd, InventorySource::Annotation,
                                       InventorySource::Etcd};

template <class T>
using ByReporter = std::array<T, kReporters.size()>;

constexpr std::size_t place_of(InventorySource reporter) {
  return static_cast<std::size_t>(reporter) - static_cast<std::size_t>(kReporters.front());
}

class ImageTable {
 public:
  // A name exactly as nodes write it, for the formula of kube-scheduler.
  struct StatusName {
    std::int64_t size = 0;  // as it was first reported
    RowSet rows;
    const std::string* name = nullptr;
  };

  struct Layer {
    std::int64_t size = 0;
    ByReporter<RowSet> rows;
    const std::string* digest = nullptr;
    std::uint32_t users = 0;  // images that contain it and rows that have it
  };

  // The image with a canonical name.
  struct Image {
    std::int64_t size_in_status = 0, size_in_inventory = 0;  // 0: unknown
    std::vector<Layer*> layers;
    RowSet by_status;
    ByReporter<RowSet> by_inventory;
    // By row: when each pod that needs the image was bound to that node.
    std::unordered_map<NodeIndex, std::vector<WallTime>> promised;
    RowSet promised_rows;
    const std::string* key = nullptr;
    std::uint32_t users = 0;

    std::int64_t size() const {
      return size_in_inventory != 0 ? size_in_inventory : size_in_status;
    }

    // `row` is one of promised_rows.
    WallTime last_promise(NodeIndex row) const;
  };

  struct Pulling {
    const Layer* layer = nullptr;
    std::int64_t offset = 0, total = 0;
  };

  // What an inventory reports about its node, apart from images and layers.
  struct Report {
    WallTime reported_at{};
    std::int64_t bandwidth = 0;  // 0: not measured
    std::vector<Pulling> pulling = {};
  };

  void set_status(NodeIndex row, const std::vector<kube::NodeImage>& images);
  // Reads the inventory in a Node's annotations. One that is invalid or has no date is ignored.
  Result<void> set_annotations(NodeIndex row, const kube::Annotations& annotations);
  void set_inventory(NodeIndex row, InventorySource reporter,
                     const loop::ImageInventory& inventory);
  void remove_inventory(NodeIndex row, InventorySource reporter);
  // Counts the images of a pod that was bound to the row at that time.
  void count_promised(const std::vector<std::string>& keys, NodeIndex row, WallTime bound_at,
                      int sign);

  // Increases with every change except promises, which always come with a change of the row in the
  // node table.
  std::uint64_t version() const { return version_; }

  const StatusName* status_name(std::string_view name) const;
  const Image* image(std::string_view key) const;
  const Report* report(NodeIndex row, InventorySource reporter) const;

  // Rows whose inventory was reported in that period, the oldest of these reports, and the first
  // report after the period.
  struct Reported {
    RowSet rows;
    WallTime oldest = WallTime::max(), first_ahead = WallTime::max();
  };

  Reported reported_between(InventorySource reporter, WallTime since, WallTime until) const;

  // Rows that pull an image now.
  const RowSet& pulling(InventorySource reporter) const { return pulling_[place_of(reporter)]; }

  // Whether annotations report images: these contain hashes of names instead of names.
  bool has_hashed_names() const { return told_[place_of(InventorySource::Annotation)] > 0; }

 private:
  // What one reporter reports about a row.
  struct Told {
    std::vector<Image*> images;
    std::vector<Layer*> layers;
    std::optional<Report> report;
  };

  struct Row {
    std::size_t status_hash = 0, annotation_hash = 0;
    std::vector<StatusName*> names;
    std::vector<Image*> by_status;
    ByReporter<Told> told;
  };

  Row& row_of(NodeIndex row);
  Image& use_image(std::string_view key);
  void drop_image(Image& image);
  Layer& use_layer(std::string_view digest);
  void drop_layer(Layer& layer);
  void set_layers(Image& image, const std::vector<Layer*>& layers);
  void clear_status(Row& row, NodeIndex index);
  void forget(Told& told);
  void note_report(NodeIndex row, InventorySource reporter, std::optional<Report> report);

  std::uint64_t version_ = 1;
  TextMap<StatusName> names_;
  TextMap<Image> images_;
  TextMap<Layer> layers_;
  std::vector<Row> rows_;
  // By row, in one array since every decision reads all of it; the smallest time if there is none.
  ByReporter<std::vector<WallTime>> reported_;
  ByReporter<std::size_t> told_{};  // the number of rows
  ByReporter<RowSet> pulling_;
};

// Empty for a text that is not an image name.
ImageKeys image_keys(std::string_view reference);

class ImageHistory;

// The keys of every image the pod needs, image volumes included, each once. The keys of what pods
// of the same owner got by that name come last.
std::vector<ImageKeys> images_of(const kube::Pod& pod, const ImageHistory* history = nullptr);

}  // namespace plim::placement
