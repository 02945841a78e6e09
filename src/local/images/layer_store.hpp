// The layers on one node, with the number of images that use each.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "local/images/images.hpp"

namespace plim::local::images {

// A plain value without time: the caller decides when layers arrive.
class LayerStore {
 public:
  std::shared_ptr<const Image> find(std::string_view normalised) const;  // by tag or digest

  bool has_layer(const std::string& digest) const { return layers_.contains(digest); }

  std::vector<Layer> missing(const Image& image) const;

  void add(std::shared_ptr<const Image> image);            // replaces the one of the same name
  bool remove(std::string_view normalised);                // false if it is not here
  std::vector<std::shared_ptr<const Image>> list() const;  // largest first

 private:
  void release(const Image& image);

  std::map<std::string, std::shared_ptr<const Image>, std::less<>> images_;  // by name
  std::map<std::string, int> layers_;  // digest to the number of images with it
};

// The digest of its configuration, which containerd uses as the ID of an image.
std::string image_id(const Image& image);

// Images with the same content are one image with several names.
struct NamedImage {
  std::shared_ptr<const Image> image;
  std::vector<std::string> by_digest = {}, tags = {};
};

std::vector<NamedImage> by_content(const std::vector<std::shared_ptr<const Image>>& images);

// How long a pull of these layers takes if no other pull is active.
Nanos pull_time(const std::vector<Layer>& missing, double registry_bytes_per_second,
                const PullOptions& options);

}  // namespace plim::local::images
