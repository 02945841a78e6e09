// The rows of `plimsoll images`: which node holds which image. They come from inventories, or from
// the node status if a node has no inventory.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.hpp"
#include "base/json.hpp"
#include "base/result.hpp"

namespace plim::cli {

struct ImageRow {
  std::string node = {}, image = {}, tag = {}, id = {};
  std::int64_t size = 0;
  std::optional<std::int64_t> shared = {};  // bytes in layers that the node's other images use
  std::size_t layers = 0;
  bool pinned = false;
  std::string source = {};  // "inventory" or "status"
  std::optional<std::chrono::seconds> age = {};

  json::object to_json() const;
  // Identifies a row. The age and the size of an image are not part of its identity.
  std::string key() const;
};

struct LayerRow {
  std::string node = {}, digest = {};
  std::int64_t size = 0;
  std::optional<std::int64_t> fetched = {};  // bytes so far, while it is being pulled
  std::vector<std::string> images = {};      // the images that contain it

  json::object to_json() const;
};

struct ImageFilter {
  std::string node = {}, image = {};  // "": no filter
};

// The value of --image: a repository with or without tag and digest, or the start of an image ID.
class ImageMatcher {
 public:
  static Result<ImageMatcher> parse(std::string_view text);
  bool matches(std::string_view name, std::string_view id) const;

 private:
  std::string tagged_, pinned_, repository_, id_;
};

// The result of image_rows(), which takes lists from the API; `inventories` may be null. It ignores
// an inventory that is more than ten minutes old or ahead: schedulers do the same.
struct ImageRows {
  std::vector<ImageRow> images;
  std::vector<LayerRow> layers;
  std::vector<std::string> nodes;  // all nodes of the cluster
  std::vector<std::string> notes;  // messages for the user
};

Result<ImageRows> image_rows(const json::value& nodes, const json::value& inventories, WallTime now,
                             const ImageFilter& filter);

// Formats a size as crictl does: "771kB", "86.7MB", "1.24GB".
std::string image_size_text(std::int64_t bytes);
// The first thirteen digits of a digest, as crictl prints it.
std::string short_id(std::string_view id);

}  // namespace plim::cli
