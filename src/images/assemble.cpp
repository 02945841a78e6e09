#include "images/assemble.hpp"

#include <algorithm>
#include <unordered_map>

#include "loop/image_reference.hpp"

namespace plim::images {
namespace {

using loop::ImageInventory;

constexpr std::string_view kLayerRef = "layer-";  // containerd's name for writing a layer
constexpr std::string_view kNoName = "<none>";

void add_name(std::vector<std::string>& names, const std::string& name) {
  auto reference = loop::ImageReference::parse(name);
  if (!reference) {
    if (name.find(kNoName) == name.npos && !name.empty()) names.push_back(name);
    return;
  }
  for (std::string key : {reference->tagged(), reference->pinned()})
    if (!key.empty()) names.push_back(std::move(key));
}

void sort_unique(std::vector<std::string>& names) {
  std::ranges::sort(names);
  names.erase(std::ranges::unique(names).begin(), names.end());
}

}  // namespace

std::vector<ImageInventory::Image> canonical_images(const std::vector<HeldImage>& held) {
  std::map<std::string, ImageInventory::Image> by_id;
  for (const HeldImage& image : held) {
    if (image.id.empty()) continue;
    std::string id = loop::canonical_image_id(image.id);
    ImageInventory::Image& made = by_id[id];
    made.id = std::move(id);
    made.size = std::max(made.size, image.size);
    made.pinned = made.pinned || image.pinned;
    for (const std::string& name : image.tags) add_name(made.names, name);
    for (const std::string& name : image.digests) add_name(made.names, name);
  }
  std::vector<ImageInventory::Image> out;
  out.reserve(by_id.size());
  for (auto& [id, image] : by_id) {
    sort_unique(image.names);
    out.push_back(std::move(image));
  }
  return out;
}

ImageInventory assemble(std::vector<ImageInventory::Image> images, const LayersById& layers) {
  ImageInventory out;
  std::unordered_map<std::string_view, std::uint32_t> places;
  for (ImageInventory::Image& image : images) {
    const auto found = layers.find(image.id);
    if (found == layers.end()) continue;
    for (const ImageInventory::Layer& layer : found->second) {
      const auto next = static_cast<std::uint32_t>(out.layers.size());
      const auto [place, added] = places.try_emplace(layer.digest, next);
      if (added) out.layers.push_back(layer);
      image.layers.push_back(place->second);
    }
  }
  out.images = std::move(images);
  return out;
}

ContentLayers layers_from_content(const std::vector<Blob>& blobs,
                                  const std::set<std::string>& wanted) {
  std::unordered_map<std::string_view, std::int64_t> sizes;
  for (const Blob& blob : blobs) sizes.emplace(blob.digest, blob.size);
  ContentLayers out;
  for (const Blob& manifest : blobs) {
    if (!wanted.contains(manifest.config) || out.known.contains(manifest.config)) continue;
    Layers layers;
    for (const std::string& digest : manifest.layers)
      if (const auto size = sizes.find(digest); size != sizes.end())
        layers.push_back({.digest = digest, .size = size->second});
    if (!layers.empty() && layers.size() == manifest.layers.size()) {
      out.known.emplace(manifest.config, std::move(layers));
      out.manifests.erase(manifest.config);
    } else {
      out.manifests.emplace(manifest.config, manifest.digest);
    }
  }
  return out;
}

Layers even_layers(const std::vector<std::string>& diff_ids, std::int64_t size) {
  Layers out;
  auto left = static_cast<std::int64_t>(diff_ids.size());
  for (const std::string& id : diff_ids) {
    const std::int64_t share = size / left--;
    out.push_back({.digest = id, .size = share});
    size -= share;
  }
  return out;
}

std::vector<Ingest> layer_ingests(std::vector<Ingest> ingests) {
  std::vector<Ingest> out;
  for (Ingest& ingest : ingests) {
    // The part before it is a namespace of the store.
    const auto at = ingest.ref.rfind(kLayerRef);
    if (at == ingest.ref.npos) continue;
    ingest.ref.erase(0, at + kLayerRef.size());
    if (loop::is_image_digest(ingest.ref)) out.push_back(std::move(ingest));
  }
  std::ranges::sort(out, {}, &Ingest::ref);
  return out;
}

}  // namespace plim::images
