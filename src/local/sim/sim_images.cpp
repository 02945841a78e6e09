#include "local/sim/sim_images.hpp"

#include <algorithm>

namespace plim::local::sim {

Result<ImageCatalog::Found> SharedCatalog::find(std::string_view name) {
  if (auto known = found_.find(name); known != found_.end()) return known->second;
  PLIM_TRY(ImageCatalog::Found found, catalog_->find(name));
  return found_.emplace(std::string(name), std::move(found)).first->second;
}

Result<SteadyTime> SimImages::pull(std::string_view name, SharedCatalog& catalog,
                                   const PullOptions& options, SteadyTime now) {
  PLIM_TRY(ImageCatalog::Found found, catalog.find(name));
  auto [place, added] = arrival_.try_emplace(found.image->name, now);
  if (!added) return place->second;
  const std::vector<Layer> missing = store_.missing(*found.image);
  busy_until_ = std::max(now, busy_until_) + pull_time(missing, found.bytes_per_second, options);
  place->second = busy_until_;
  store_.add(std::move(found.image));
  return busy_until_;
}

std::vector<std::shared_ptr<const Image>> SimImages::arrived(SteadyTime now) const {
  auto out = store_.list();
  std::erase_if(out, [&](const auto& image) { return arrival_.at(image->name) > now; });
  return out;
}

}  // namespace plim::local::sim
