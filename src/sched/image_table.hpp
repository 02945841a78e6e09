// Who holds which image and layer: by the nodes' status, by inventories, and by pods that are there
// and so have their images or get them soon. Belongs to one thread.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/clock.hpp"
#include "kube/types.hpp"
#include "loop/image_inventory.hpp"
#include "sched/node_table.hpp"
#include "sched/row_set.hpp"

namespace plim::sched {

// The names one image can be looked up by, best first: repository@digest or name:tag, then the
// digest in any repository; or an image id alone.
using ImageKeys = std::vector<std::string>;

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
    RowSet rows;
    const std::string* digest = nullptr;
    std::uint32_t users = 0;  // images that consist of it, rows that hold it
  };

  // What a canonical name stands for.
  struct Image {
    std::int64_t size_in_status = 0, size_in_inventory = 0;  // 0: not known
    std::vector<Layer*> layers;
    RowSet by_status, by_inventory;
    std::unordered_map<NodeIndex, std::uint32_t> assumed;  // pods by row
    const std::string* key = nullptr;
    std::uint32_t users = 0;

    std::int64_t size() const {
      return size_in_inventory != 0 ? size_in_inventory : size_in_status;
    }
  };

  struct Pulling {
    const Layer* layer = nullptr;
    std::int64_t offset = 0, total = 0;
  };

  // What an inventory said of its node.
  struct Report {
    WallTime reported_at{};
    std::int64_t bandwidth = 0;  // 0: not measured
    std::vector<Pulling> pulling = {};
  };

  void set_status(NodeIndex row, const std::vector<kube::NodeImage>& images);
  void set_inventory(NodeIndex row, const loop::ImageInventory& inventory);
  void remove_inventory(NodeIndex row);
  void count_assumed(const std::vector<std::string>& keys, NodeIndex row, int sign);

  const StatusName* status_name(std::string_view name) const;
  const Image* image(std::string_view key) const;
  const Report* report(NodeIndex row) const;

  // Rows whose inventory was reported at `since` or later.
  RowSet reported_since(WallTime since) const;

 private:
  struct Row {
    std::size_t status_hash = 0;
    std::vector<StatusName*> names;
    std::vector<Image*> by_status, by_inventory;
    std::vector<Layer*> layers;
    std::optional<Report> report;
  };

  Row& row_of(NodeIndex row);
  Image& use_image(std::string_view key);
  void drop_image(Image& image);
  Layer& use_layer(std::string_view digest);
  void drop_layer(Layer& layer);
  void set_layers(Image& image, const std::vector<Layer*>& layers);
  void clear_status(Row& row, NodeIndex index);
  void clear_inventory(Row& row, NodeIndex index);

  TextMap<StatusName> names_;
  TextMap<Image> images_;
  TextMap<Layer> layers_;
  std::vector<Row> rows_;
};

// Empty for a text that is no image name.
ImageKeys image_keys(std::string_view reference);

// The first key of every image the pod needs, image volumes among them, each once.
std::vector<ImageKeys> images_of(const kube::Pod& pod);

}  // namespace plim::sched
