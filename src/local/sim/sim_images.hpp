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

// What the catalog says, remembered: thousands of nodes share each image.
class SharedCatalog {
 public:
  explicit SharedCatalog(std::shared_ptr<const images::ImageCatalog> catalog)
      : catalog_(std::move(catalog)) {}

  Result<images::ImageCatalog::Found> find(std::string_view name);

 private:
  std::shared_ptr<const images::ImageCatalog> catalog_;
  std::map<std::string, images::ImageCatalog::Found, std::less<>> found_;  // by spelling
};

// As a status tells of it: of its layers nothing but their sum is known.
images::Image image_from_status(const kube::NodeImage& told);

// As an agent on the node would tell of them, with their layers; who and when is the caller's.
loop::ImageInventory inventory_of(const std::vector<std::shared_ptr<const images::Image>>& images);

// Pulls one after the other, decided the moment they are asked for: nothing waits or wakes.
class SimImages {
 public:
  // When the image will be there; already past for one that is.
  Result<SteadyTime> pull(std::string_view name, SharedCatalog& catalog,
                          const images::PullOptions& options, SteadyTime now);
  void add(std::shared_ptr<const images::Image> image);  // it has been there for ever
  bool has(std::string_view name) const;                 // or it is on its way

  // Something had to be moved: only then an agent would know how fast that goes.
  bool has_pulled() const { return busy_until_ != SteadyTime(); }

  std::vector<std::shared_ptr<const images::Image>> arrived(SteadyTime now) const;  // largest first

 private:
  images::LayerStore store_;
  std::map<std::string, SteadyTime> arrival_;  // by name
  SteadyTime busy_until_ = {};
};

}  // namespace plim::local::sim
