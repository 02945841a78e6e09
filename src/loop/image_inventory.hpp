// Which images and layers a node holds: what `plimsoll agent --images` publishes and the scheduler
// reads. It is the spec of the CRD NodeImageInventory, and the value under a node's key in etcd.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/json.hpp"
#include "base/result.hpp"

namespace plim::loop {

struct ImageInventory {
  struct Image {
    std::string id;  // digest of its configuration, "sha256:…"
    std::int64_t size = 0;
    bool pinned = false;                     // never removed by the kubelet
    std::vector<std::string> names = {};     // canonical name:tag and repository@digest, sorted
    std::vector<std::uint32_t> layers = {};  // places in ImageInventory::layers, base first
    bool operator==(const Image&) const = default;
  };

  // By the digest in the image's manifest (of the compressed layer) where the runtime tells it,
  // else by its diff id.
  struct Layer {
    std::string digest;
    std::int64_t size = 0;
    bool operator==(const Layer&) const = default;
  };

  // Part of an image that is being fetched; for a layer `ref` is the digest it has above.
  struct Pull {
    std::string ref;
    std::int64_t offset = 0, total = 0;
    bool operator==(const Pull&) const = default;
  };

  std::string runtime;          // "containerd://1.7.28", as in a Node's nodeInfo
  std::int64_t generation = 0;  // one more with every report whose content differs
  WallTime reported_at{};
  std::optional<std::int64_t> fs_used, fs_capacity;  // bytes of the images' file system
  std::int64_t bandwidth = 0;                        // measured bytes per second, 0: not yet
  std::vector<Image> images;
  std::vector<Layer> layers;
  std::vector<Pull> pulling;
  bool truncated = false;  // layers of the smallest images are left out

  bool operator==(const ImageInventory&) const = default;
};

// Half of what etcd takes in one request, with room for the object around it.
inline constexpr std::size_t kLargestInventory = 900 * 1024;

json::object inventory_to_json(const ImageInventory& inventory);
// Members we do not know are passed over. A layer index beyond the table, an image without an id
// or with more layers than there can be, or a negative size is an error: half an inventory would
// look like missing images.
Result<ImageInventory> inventory_from_json(const json::value& spec);

// As much of the inventory as `limit` bytes of JSON hold: the layers of the smallest images go
// first, and, only when that is not enough, the smallest images.
ImageInventory fitting_inventory(ImageInventory inventory, std::size_t limit = kLargestInventory);

}  // namespace plim::loop
