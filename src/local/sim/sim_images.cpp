#include "local/sim/sim_images.hpp"

#include <algorithm>

#include "net/x509.hpp"

namespace plim::local::sim {

Result<images::ImageCatalog::Found> SharedCatalog::find(std::string_view name) {
  if (auto known = found_.find(name); known != found_.end()) return known->second;
  PLIM_TRY(images::ImageCatalog::Found found, catalog_->find(name));
  return found_.emplace(std::string(name), std::move(found)).first->second;
}

// Names by digest and by tag; pods use tags.
images::Image image_from_status(const kube::NodeImage& told) {
  images::Image out;
  for (const auto& one : told.names) {
    const std::string name = images::normalise_image(one.view());
    if (name.empty()) continue;
    const std::size_t at = name.find('@');
    if (at != name.npos) out.digest = name.substr(at + 1);
    if (out.name.empty() || out.name.find('@') != out.name.npos) out.name = name;
  }
  if (out.digest.empty()) out.digest = "sha256:" + net::sha256_hex(out.name);
  out.layers = {{"sha256:" + net::sha256_hex("layer " + out.digest), told.bytes}};
  return out;
}

loop::ImageInventory inventory_of(const std::vector<std::shared_ptr<const images::Image>>& images) {
  loop::ImageInventory out;
  std::map<std::string_view, std::uint32_t> places;
  for (images::NamedImage& named : by_content(images)) {
    loop::ImageInventory::Image& made = out.images.emplace_back();
    made.id = image_id(*named.image);
    made.size = named.image->bytes();
    made.names = std::move(named.by_digest);
    std::ranges::move(named.tags, std::back_inserter(made.names));
    std::ranges::sort(made.names);
    for (const images::Layer& layer : named.image->layers) {
      const auto next = static_cast<std::uint32_t>(out.layers.size());
      const auto [place, added] = places.try_emplace(layer.digest, next);
      if (added) out.layers.push_back({.digest = layer.digest, .size = layer.bytes});
      made.layers.push_back(place->second);
    }
  }
  std::ranges::sort(out.images, {}, &loop::ImageInventory::Image::id);
  return out;
}

void SimImages::add(std::shared_ptr<const images::Image> image) {
  if (!arrival_.try_emplace(image->name, SteadyTime::min()).second) return;
  store_.add(std::move(image));
}

bool SimImages::has(std::string_view name) const {
  return arrival_.contains(std::string(name));
}

Result<SteadyTime> SimImages::pull(std::string_view name, SharedCatalog& catalog,
                                   const images::PullOptions& options, SteadyTime now) {
  PLIM_TRY(images::ImageCatalog::Found found, catalog.find(name));
  auto [place, added] = arrival_.try_emplace(found.image->name, now);
  if (!added) return place->second;
  const std::vector<images::Layer> missing = store_.missing(*found.image);
  busy_until_ = std::max(now, busy_until_) + pull_time(missing, found.bytes_per_second, options);
  place->second = busy_until_;
  store_.add(std::move(found.image));
  return busy_until_;
}

std::vector<std::shared_ptr<const images::Image>> SimImages::arrived(SteadyTime now) const {
  auto out = store_.list();
  std::erase_if(out, [&](const auto& image) { return arrival_.at(image->name) > now; });
  return out;
}

}  // namespace plim::local::sim
