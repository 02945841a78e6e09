// The images and layers of a node, which `plimsoll agent --images` publishes and the scheduler
// reads. It is the spec of the CRD NodeImageInventory, and the value of a node's key in etcd.
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
    std::vector<std::uint32_t> layers = {};  // indexes in ImageInventory::layers, base first
    bool operator==(const Image&) const = default;
  };

  // Identified by the digest in the image's manifest (of the compressed layer) if the runtime
  // reports it, otherwise by its diff ID.
  struct Layer {
    std::string digest;
    std::int64_t size = 0;
    bool operator==(const Layer&) const = default;
  };

  // A part of an image that is being pulled; for a layer, `ref` is its digest.
  struct Pull {
    std::string ref;
    std::int64_t offset = 0, total = 0;
    bool operator==(const Pull&) const = default;
  };

  std::string runtime;          // "containerd://1.7.28", as in a Node's nodeInfo
  std::int64_t generation = 0;  // incremented with every report whose content differs
  WallTime reported_at{};
  std::optional<std::int64_t> fs_used, fs_capacity;  // bytes of the images' file system
  std::int64_t bandwidth = 0;                        // measured bytes per second, 0: unknown
  std::vector<Image> images;
  std::vector<Layer> layers;
  std::vector<Pull> pulling;
  bool truncated = false;  // layers of the smallest images are omitted

  bool operator==(const ImageInventory&) const = default;
};

// Half of etcd's limit for a request, with space for the surrounding object.
inline constexpr std::size_t kLargestInventory = 900 * 1024;

json::object inventory_to_json(const ImageInventory& inventory);
// Ignores unknown members. Fails for a layer index outside the table, an image without an ID or
// with too many layers, or a negative size: an incomplete inventory would look like missing
// images.
Result<ImageInventory> inventory_from_json(const json::value& spec);

// As much of the inventory as fits into `limit` bytes of JSON: drops the layers of the smallest
// images first, then, if that is not enough, the smallest images.
ImageInventory fitting_inventory(ImageInventory inventory, std::size_t limit = kLargestInventory);

}  // namespace plim::loop
