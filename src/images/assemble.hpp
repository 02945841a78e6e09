// Builds an inventory from the data of a runtime; without I/O.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "images/messages.hpp"
#include "loop/image_inventory.hpp"

namespace plim::images {

using Layers = std::vector<loop::ImageInventory::Layer>;
using LayersById = std::map<std::string, Layers, std::less<>>;  // by image ID

// The images with canonical names, sorted by ID, without layers: used to detect changes. An image
// that is listed twice appears once.
std::vector<loop::ImageInventory::Image> canonical_images(const std::vector<HeldImage>& held);

// The images with their layers; each layer is in the table once.
loop::ImageInventory assemble(std::vector<loop::ImageInventory::Image> images,
                              const LayersById& layers);

// What the labels of the content store contain about the layers of the wanted images.
struct ContentLayers {
  LayersById known;
  // For images without these labels: the manifest in the store, by image ID.
  std::map<std::string, std::string> manifests;
};

ContentLayers layers_from_content(const std::vector<Blob>& blobs,
                                  const std::set<std::string>& wanted);

// If only the diff IDs are known: divides the size of the image evenly.
Layers even_layers(const std::vector<std::string>& diff_ids, std::int64_t size);

// The layers that are being written, with their digests and sorted. Manifests and configurations
// are too small to matter.
std::vector<Ingest> layer_ingests(std::vector<Ingest> ingests);

}  // namespace plim::images
