// When images arrive on a simulated node.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.hpp"
#include "base/result.hpp"
#include "kube/types.hpp"
#include "local/images/image_catalog.hpp"
#include "local/images/images.hpp"
#include "local/images/layer_store.hpp"
#include "loop/image_inventory.hpp"

namespace plim::local::sim {

// Caches the images of the catalog: thousands of nodes share each image.
class SharedCatalog {
 public:
  explicit SharedCatalog(std::shared_ptr<const images::ImageCatalog> catalog)
      : catalog_(std::move(catalog)) {}

  Result<images::ImageCatalog::Found> find(std::string_view name);

 private:
  std::shared_ptr<const images::ImageCatalog> catalog_;
  std::map<std::string, images::ImageCatalog::Found, std::less<>> found_;  // by the name as written
};

// An image from a node's status, which has the total size but not the layers.
images::Image image_from_status(const kube::NodeImage& told);

// The inventory that an agent on the node would report, with layers. The caller adds node and time.
loop::ImageInventory inventory_of(const std::vector<std::shared_ptr<const images::Image>>& images);

// Computes the times of pulls, one pull after another, when a pull is requested. Uses no timers.
class SimImages {
 public:
  // When the image will be present; a past time if it already is.
  Result<SteadyTime> pull(std::string_view name, SharedCatalog& catalog,
                          const images::PullOptions& options, SteadyTime now);
  void add(std::shared_ptr<const images::Image> image);  // present from the start
  bool has(std::string_view name) const;                 // true also while it is being pulled

  // True if a pull moved data: only then would an agent know the bandwidth.
  bool has_pulled() const { return busy_until_ != SteadyTime(); }

  std::vector<std::shared_ptr<const images::Image>> arrived(SteadyTime now) const;  // largest first

 private:
  images::LayerStore store_;
  std::map<std::string, SteadyTime> arrival_;  // by name
  SteadyTime busy_until_ = {};
};

}  // namespace plim::local::sim
