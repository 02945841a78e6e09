#include "local/images/layer_store.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "local/images/image_catalog.hpp"
#include "net/x509.hpp"

namespace plim::local::images {

std::int64_t Image::bytes() const {
  std::int64_t out = 0;
  for (const Layer& layer : layers) out += layer.bytes;
  return out;
}

std::shared_ptr<const Image> LayerStore::find(std::string_view normalised) const {
  if (auto found = images_.find(normalised); found != images_.end()) return found->second;
  const std::size_t at = normalised.find('@');
  if (at == normalised.npos) return nullptr;
  for (const auto& [name, image] : images_)
    if (image->digest == normalised.substr(at + 1) &&
        image_repository(name) == image_repository(normalised))
      return image;
  return nullptr;
}

std::vector<Layer> LayerStore::missing(const Image& image) const {
  std::vector<Layer> out;
  for (const Layer& layer : image.layers)
    if (!has_layer(layer.digest) && std::ranges::find(out, layer) == out.end())
      out.push_back(layer);
  return out;
}

void LayerStore::add(std::shared_ptr<const Image> image) {
  for (const Layer& layer : image->layers) ++layers_[layer.digest];
  std::string name = image->name;
  auto [place, added] = images_.emplace(std::move(name), image);
  if (added) return;
  release(*place->second);
  place->second = std::move(image);
}

bool LayerStore::remove(std::string_view normalised) {
  const auto found = find(normalised);
  if (!found) return false;
  release(*found);
  images_.erase(found->name);
  return true;
}

void LayerStore::release(const Image& image) {
  for (const Layer& layer : image.layers) {
    auto found = layers_.find(layer.digest);
    if (found != layers_.end() && --found->second == 0) layers_.erase(found);
  }
}

std::vector<std::shared_ptr<const Image>> LayerStore::list() const {
  std::vector<std::shared_ptr<const Image>> out;
  for (const auto& [name, image] : images_) out.push_back(image);
  std::ranges::sort(out, [](const auto& a, const auto& b) {
    const std::int64_t left = a->bytes();
    const std::int64_t right = b->bytes();
    return left != right ? left > right : a->name < b->name;
  });
  return out;
}

Nanos pull_time(const std::vector<Layer>& missing, double registry_bytes_per_second,
                const PullOptions& options) {
  double rate = options.bytes_per_second;
  if (registry_bytes_per_second > 0) rate = std::min(rate, registry_bytes_per_second);
  double seconds = 0;
  for (const Layer& layer : missing)
    seconds += static_cast<double>(layer.bytes) / rate +
               std::chrono::duration<double>(options.per_layer).count();
  return std::chrono::duration_cast<Nanos>(
      std::chrono::duration<double>(seconds / options.speedup));
}

std::string image_id(const Image& image) {
  return "sha256:" + net::sha256_hex("config of " + image.digest);
}

std::vector<NamedImage> by_content(const std::vector<std::shared_ptr<const Image>>& images) {
  std::vector<NamedImage> out;
  for (const auto& image : images) {
    auto same = std::ranges::find(out, image->digest,
                                  [](const NamedImage& other) { return other.image->digest; });
    if (same == out.end()) same = out.insert(out.end(), NamedImage{.image = image});
    std::string name = fmt::format("{}@{}", image_repository(image->name), image->digest);
    if (std::ranges::find(same->by_digest, name) == same->by_digest.end())
      same->by_digest.push_back(std::move(name));
    if (image->name.find('@') == image->name.npos) same->tags.push_back(image->name);
  }
  return out;
}

json::array images_status(const std::vector<std::shared_ptr<const Image>>& images, int limit) {
  constexpr std::size_t kMaxNames = 5;
  json::array out;
  for (const NamedImage& image : by_content(images)) {
    if (limit >= 0 && out.size() >= static_cast<std::size_t>(limit)) break;
    json::array names;
    for (const auto* list : {&image.by_digest, &image.tags})
      for (const std::string& name : *list)
        if (names.size() < kMaxNames) names.emplace_back(name);
    out.push_back(json::object{{"names", std::move(names)}, {"sizeBytes", image.image->bytes()}});
  }
  return out;
}

}  // namespace plim::local::images
