// From a runtime's words to an inventory; without I/O.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "images/messages.hpp"
#include "loop/image_inventory.hpp"

namespace plim::images {

using Layers = std::vector<loop::ImageInventory::Layer>;
using LayersById = std::map<std::string, Layers, std::less<>>;  // by image id

// The images in canonical names, sorted by id, without layers: what a change is told by. One that
// is listed twice is one.
std::vector<loop::ImageInventory::Image> canonical_images(const std::vector<HeldImage>& held);

// The images with their layers, each of which is in the table once.
loop::ImageInventory assemble(std::vector<loop::ImageInventory::Image> images,
                              const LayersById& layers);

// What the labels of the content store tell about the layers of the images wanted.
struct ContentLayers {
  LayersById known;
  // Of the others: where the store has a manifest at least, by image id.
  std::map<std::string, std::string> manifests;
};

ContentLayers layers_from_content(const std::vector<Blob>& blobs,
                                  const std::set<std::string>& wanted);

// All that is left when only the diff ids are known: the image's size in equal parts.
Layers even_layers(const std::vector<std::string>& diff_ids, std::int64_t size);

// Layers among what is being written, called by their digests and sorted; manifests and
// configurations are too small to matter.
std::vector<Ingest> layer_ingests(std::vector<Ingest> ingests);

}  // namespace plim::images
