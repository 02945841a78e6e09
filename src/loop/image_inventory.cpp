#include "loop/image_inventory.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "base/rfc3339.hpp"

namespace plim::loop {
namespace {

using Image = ImageInventory::Image;
using Layer = ImageInventory::Layer;
using Pull = ImageInventory::Pull;

constexpr std::uint32_t kUnused = UINT32_MAX;
constexpr std::size_t kMostLayers = 500;  // of an image; overlayfs allows no more
constexpr std::int64_t kMostBytes = std::int64_t{1} << 50;

json::object image_to_json(const Image& image) {
  json::object out;
  out["id"] = image.id;
  out["size"] = image.size;
  if (image.pinned) out["pinned"] = true;
  out["names"] = json::array(image.names.begin(), image.names.end());
  if (!image.layers.empty()) out["layers"] = json::array(image.layers.begin(), image.layers.end());
  return out;
}

Error bad_inventory(std::string_view where, std::size_t index, std::string_view what) {
  return fail(Code::invalid, fmt::format("{}[{}]: {}", where, index, what));
}

// A member that may be missing. Fails if it is negative, not a whole number, or so large that sums
// would overflow.
Result<std::int64_t> amount_at(const json::value& value, std::string_view name) {
  const json::value* found = find(value, {name});
  if (!found) return 0;
  const auto amount = int_at(value, {name});
  if (!amount || *amount < 0 || *amount > kMostBytes)
    return fail(Code::invalid, fmt::format("{}: expected a number of bytes", name));
  return *amount;
}

Result<Image> image_from(const json::value& value, std::size_t table) {
  Image out;
  out.id = text_at(value, {"id"});
  if (out.id.empty()) return fail(Code::invalid, "an image needs an id");
  PLIM_TRY(out.size, amount_at(value, "size"));
  out.pinned = bool_at(value, {"pinned"});
  out.names = texts_at(value, {"names"});
  const json::array& layers = list_at(value, {"layers"});
  // The scheduler compares layers one by one, for every pod.
  if (layers.size() > kMostLayers)
    return fail(Code::invalid, fmt::format("layers: {} are more than {}, the limit of an image",
                                           layers.size(), kMostLayers));
  out.layers.reserve(layers.size());
  for (const json::value& index : layers) {
    const auto place = int_at(index, {});
    if (!place || *place < 0 || static_cast<std::uint64_t>(*place) >= table)
      return fail(Code::invalid, fmt::format("layers: {} is not in the table", to_json(index)));
    out.layers.push_back(static_cast<std::uint32_t>(*place));
  }
  return out;
}

Result<Layer> layer_from(const json::value& value) {
  Layer out;
  out.digest = text_at(value, {"d"});
  if (out.digest.empty()) return fail(Code::invalid, "a layer needs a digest");
  PLIM_TRY(out.size, amount_at(value, "n"));
  return out;
}

Result<Pull> pull_from(const json::value& value) {
  Pull out;
  out.ref = text_at(value, {"ref"});
  PLIM_TRY(out.offset, amount_at(value, "offset"));
  PLIM_TRY(out.total, amount_at(value, "total"));
  return out;
}

bool fits(const ImageInventory& inventory, std::size_t limit) {
  return to_json(inventory_to_json(inventory)).size() <= limit;
}

// Removes layers from the table that no image uses.
void drop_unused_layers(ImageInventory& inventory) {
  std::vector<std::uint32_t> moved(inventory.layers.size(), kUnused);
  std::vector<Layer> kept;
  for (Image& image : inventory.images)
    for (std::uint32_t& layer : image.layers) {
      if (moved[layer] == kUnused) {
        moved[layer] = static_cast<std::uint32_t>(kept.size());
        kept.push_back(std::move(inventory.layers[layer]));
      }
      layer = moved[layer];
    }
  inventory.layers = std::move(kept);
}

std::vector<std::size_t> smallest_first(const std::vector<Image>& images) {
  std::vector<std::size_t> order(images.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&](std::size_t i) { return std::pair(images[i].size, i); });
  return order;
}

// Drops the layers of the `count` smallest images, or these images.
enum class Drop { layers, images };

ImageInventory without(const ImageInventory& whole, std::size_t count, Drop what) {
  ImageInventory out = whole;
  out.truncated = true;
  const auto order = smallest_first(out.images);
  for (std::size_t i = 0; i < count; ++i) {
    Image& image = out.images[order[i]];
    image.layers.clear();
    if (what == Drop::images) image.id.clear();
  }
  if (what == Drop::images) std::erase_if(out.images, [](const Image& i) { return i.id.empty(); });
  drop_unused_layers(out);
  return out;
}

// The text shrinks with every dropped image, so a binary search finds the smallest number.
ImageInventory dropping(const ImageInventory& whole, std::size_t limit, Drop what) {
  std::size_t low = 0, high = whole.images.size();
  while (low < high) {
    const std::size_t middle = (low + high) / 2;
    if (fits(without(whole, middle, what), limit))
      high = middle;
    else
      low = middle + 1;
  }
  return without(whole, low, what);
}

}  // namespace

json::object inventory_to_json(const ImageInventory& inventory) {
  json::object out;
  out["runtime"] = inventory.runtime;
  out["generation"] = inventory.generation;
  out["reportedAt"] = format_rfc3339(inventory.reported_at);
  if (inventory.fs_used || inventory.fs_capacity) {
    json::object fs;
    if (inventory.fs_used) fs["usedBytes"] = *inventory.fs_used;
    if (inventory.fs_capacity) fs["capacityBytes"] = *inventory.fs_capacity;
    out["fs"] = std::move(fs);
  }
  if (inventory.bandwidth > 0) out["pullBandwidthBytesPerSecond"] = inventory.bandwidth;
  json::array images, layers;
  images.reserve(inventory.images.size());
  layers.reserve(inventory.layers.size());
  for (const Image& image : inventory.images) images.push_back(image_to_json(image));
  for (const Layer& layer : inventory.layers)
    layers.push_back(json::object{{"d", layer.digest}, {"n", layer.size}});
  out["images"] = std::move(images);
  out["layers"] = std::move(layers);
  if (!inventory.pulling.empty()) {
    json::array pulling;
    for (const Pull& pull : inventory.pulling)
      pulling.push_back(
          json::object{{"ref", pull.ref}, {"offset", pull.offset}, {"total", pull.total}});
    out["pulling"] = std::move(pulling);
  }
  if (inventory.truncated) out["truncated"] = true;
  return out;
}

Result<ImageInventory> inventory_from_json(const json::value& spec) {
  if (!spec.is_object()) return fail(Code::invalid, "expected the spec of an image inventory");
  ImageInventory out;
  out.runtime = text_at(spec, {"runtime"});
  out.generation = int_at(spec, {"generation"}).value_or(0);
  if (const auto at = parse_rfc3339(text_at(spec, {"reportedAt"}))) out.reported_at = *at;
  out.fs_used = int_at(spec, {"fs", "usedBytes"});
  out.fs_capacity = int_at(spec, {"fs", "capacityBytes"});
  PLIM_TRY(out.bandwidth, amount_at(spec, "pullBandwidthBytesPerSecond"));
  for (const json::value& value : list_at(spec, {"layers"})) {
    auto layer = layer_from(value);
    if (!layer) return bad_inventory("layers", out.layers.size(), layer.error().message);
    out.layers.push_back(std::move(*layer));
  }
  for (const json::value& value : list_at(spec, {"images"})) {
    auto image = image_from(value, out.layers.size());
    if (!image) return bad_inventory("images", out.images.size(), image.error().message);
    out.images.push_back(std::move(*image));
  }
  const json::array& pulling = list_at(spec, {"pulling"});
  if (pulling.size() > kMostLayers)
    return fail(Code::invalid,
                fmt::format("pulling: {} at once are more than {}, the limit of a node",
                            pulling.size(), kMostLayers));
  for (const json::value& value : pulling) {
    auto pull = pull_from(value);
    if (!pull) return bad_inventory("pulling", out.pulling.size(), pull.error().message);
    out.pulling.push_back(std::move(*pull));
  }
  out.truncated = bool_at(spec, {"truncated"});
  return out;
}

ImageInventory fitting_inventory(ImageInventory inventory, std::size_t limit) {
  if (fits(inventory, limit)) return inventory;
  ImageInventory out = dropping(inventory, limit, Drop::layers);
  return fits(out, limit) ? out : dropping(out, limit, Drop::images);
}

}  // namespace plim::loop
