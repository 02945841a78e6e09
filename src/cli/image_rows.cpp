#include "cli/image_rows.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <tuple>

#include <fmt/format.h>

#include "base/duration.hpp"
#include "base/text.hpp"
#include "kube/paths.hpp"
#include "loop/image_inventory.hpp"
#include "loop/image_reference.hpp"

namespace plim::cli {
namespace {

using loop::ImageInventory;
using loop::ImageReference;

constexpr std::chrono::seconds kBelieved{600};  // the default inventoryMaxAge of the scheduler
constexpr std::string_view kNone = "<none>";
constexpr std::size_t kShortId = 13;
constexpr std::size_t kShortestId = 6;

// The two columns "repository" and "tag" of a canonical name.
std::pair<std::string, std::string> repository_and_tag(const std::string& name) {
  auto reference = ImageReference::parse(name);
  if (!reference) return {name, std::string(kNone)};
  return {reference->name(), reference->tag.empty() ? std::string(kNone) : reference->tag};
}

// One row per tag. An image without tags shows its repository, an image without names only its ID.
std::vector<std::string> names_to_show(const std::vector<std::string>& names) {
  std::vector<std::string> tagged;
  for (const std::string& name : names)
    if (name.find('@') == name.npos) tagged.push_back(name);
  if (!tagged.empty()) return tagged;
  if (!names.empty()) return {names.front()};
  return {std::string(kNone)};
}

class RowMaker {
 public:
  RowMaker(WallTime now, std::optional<ImageMatcher> matcher)
      : now_(now), matcher_(std::move(matcher)) {}

  void add_inventory(const std::string& node, const ImageInventory& inventory) {
    std::vector<int> users(inventory.layers.size(), 0);
    for (const auto& image : inventory.images)
      for (std::uint32_t layer : image.layers) ++users[layer];
    std::vector<LayerRow> layers;
    for (const auto& layer : inventory.layers)
      layers.push_back({.node = node, .digest = layer.digest, .size = layer.size});
    for (const auto& image : inventory.images) {
      if (!is_wanted(image.names, image.id)) continue;
      ImageRow row{.node = node,
                   .id = image.id,
                   .size = image.size,
                   .layers = image.layers.size(),
                   .pinned = image.pinned,
                   .source = "inventory",
                   .age = std::max(age_of(inventory), std::chrono::seconds(0))};
      if (!image.layers.empty()) row.shared = 0;
      for (std::uint32_t layer : image.layers) {
        if (users[layer] > 1) *row.shared += inventory.layers[layer].size;
        layers[layer].images.push_back(names_to_show(image.names).front());
      }
      add_names(row, image.names);
    }
    for (LayerRow& layer : layers) {
      if (layer.images.empty()) continue;
      std::ranges::sort(layer.images);
      rows_.layers.push_back(std::move(layer));
    }
    if (!matcher_)
      for (const auto& pull : inventory.pulling)
        rows_.layers.push_back(
            {.node = node, .digest = pull.ref, .size = pull.total, .fetched = pull.offset});
  }

  void add_status(const std::string& node, const json::value& images) {
    if (!images.is_array()) return;
    for (const json::value& image : images.get_array()) {
      std::vector<std::string> names;
      for (const json::value& name : kube::list_at(image, "ContainerImage.names"))
        if (name.is_string()) names.push_back(canonical(name.get_string()));
      std::ranges::sort(names);
      if (!is_wanted(names, "")) continue;
      ImageRow row{.node = node,
                   .size = kube::int_at(image, "ContainerImage.sizeBytes").value_or(0),
                   .source = "status"};
      add_names(row, names);
    }
  }

  // Negative if the node's clock is ahead of ours.
  std::chrono::seconds age_of(const ImageInventory& inventory) const {
    return std::chrono::floor<std::chrono::seconds>(now_ - inventory.reported_at);
  }

  void add_node(const std::string& name, const json::value& node, const ImageInventory* told) {
    if (told != nullptr && std::chrono::abs(age_of(*told)) <= kBelieved) {
      if (told->truncated)
        rows_.notes.push_back(fmt::format(
            "the inventory of node {} is truncated: it does not have the smallest images", name));
      add_inventory(name, *told);
      return;
    }
    if (told != nullptr) rows_.notes.push_back(unbelieved(name, age_of(*told)));
    if (const json::value* images = kube::find(node, "Node.status.images"))
      add_status(name, *images);
  }

  ImageRows take() { return std::move(rows_); }

  ImageRows& rows() { return rows_; }

 private:
  static std::string unbelieved(std::string_view node, std::chrono::seconds age) {
    if (age < std::chrono::seconds(0))
      return fmt::format(
          "ignoring the inventory of node {}: its date is {} in the future; check the clock of the "
          "node",
          node, human_duration(-age));
    return fmt::format("ignoring the inventory of node {}: it is {} old; check that its agent runs",
                       node, human_duration(age));
  }

  static std::string canonical(std::string_view name) {
    auto reference = ImageReference::parse(name);
    return reference ? reference->to_string() : std::string(name);
  }

  bool is_wanted(const std::vector<std::string>& names, std::string_view id) const {
    if (!matcher_ || (names.empty() && matcher_->matches("", id))) return true;
    return std::ranges::any_of(
        names, [&](const std::string& name) { return matcher_->matches(name, id); });
  }

  void add_names(const ImageRow& row, const std::vector<std::string>& names) {
    for (const std::string& name : names_to_show(names)) {
      ImageRow made = row;
      std::tie(made.image, made.tag) = repository_and_tag(name);
      rows_.images.push_back(std::move(made));
    }
  }

  WallTime now_;
  std::optional<ImageMatcher> matcher_;
  ImageRows rows_;
};

std::map<std::string, ImageInventory> inventories_by_node(const json::value& list,
                                                          std::vector<std::string>& notes) {
  std::map<std::string, ImageInventory> out;
  for (const json::value& item : kube::list_at(list, "ObjectList.items")) {
    const std::string node(kube::text_at(item, "Object.metadata.name"));
    const json::value* spec = find(item, {"spec"});
    auto read = loop::inventory_from_json(spec ? *spec : json::value());
    if (read)
      out.emplace(node, std::move(*read));
    else
      notes.push_back(fmt::format("invalid inventory of node {}: {}", node, read.error().message));
  }
  return out;
}

}  // namespace

json::object ImageRow::to_json() const {
  json::object out{{"node", node}, {"image", image}, {"tag", tag}};
  if (!id.empty()) out["id"] = id;
  out["size"] = size;
  if (shared) out["sharedBytes"] = *shared;
  if (layers > 0) out["layers"] = layers;
  if (pinned) out["pinned"] = true;
  out["source"] = source;
  if (age) out["ageSeconds"] = age->count();
  return out;
}

std::string ImageRow::key() const {
  return fmt::format("{}|{}|{}|{}", node, image, tag, id);
}

json::object LayerRow::to_json() const {
  json::object out{{"node", node}, {"layer", digest}, {"size", size}};
  if (fetched) out["fetched"] = *fetched;
  out["images"] = json::array(images.begin(), images.end());
  return out;
}

Result<ImageMatcher> ImageMatcher::parse(std::string_view text) {
  ImageMatcher out;
  const std::string_view hex = text.starts_with("sha256:") ? text.substr(7) : text;
  const bool is_hex = hex.find_first_not_of("0123456789abcdef") == hex.npos;
  if (is_hex && hex.size() >= kShortestId) out.id_ = fmt::format("sha256:{}", hex);
  auto reference = ImageReference::parse(text);
  if (!reference && out.id_.empty()) return reference.error();
  if (!reference) return out;
  out.pinned_ = reference->pinned();
  const std::string_view last = text.substr(text.rfind('/') + 1);
  if (last.find(':') == last.npos && out.pinned_.empty())
    out.repository_ = reference->name();
  else
    out.tagged_ = reference->tagged();
  return out;
}

bool ImageMatcher::matches(std::string_view name, std::string_view id) const {
  if (!id_.empty() && id.starts_with(id_)) return true;
  if (name.empty()) return false;
  if (!pinned_.empty()) return name == pinned_;
  if (!tagged_.empty()) return name == tagged_;
  return !repository_.empty() && name.starts_with(repository_) &&
         name.size() > repository_.size() &&
         (name[repository_.size()] == ':' || name[repository_.size()] == '@');
}

Result<ImageRows> image_rows(const json::value& nodes, const json::value& inventories, WallTime now,
                             const ImageFilter& filter) {
  std::optional<ImageMatcher> matcher;
  if (!filter.image.empty()) {
    PLIM_TRY(matcher, ImageMatcher::parse(filter.image));
  }
  RowMaker maker(now, std::move(matcher));
  const auto told = inventories_by_node(inventories, maker.rows().notes);
  for (const json::value& node : kube::list_at(nodes, "ObjectList.items")) {
    const std::string name(kube::text_at(node, "Node.metadata.name"));
    maker.rows().nodes.push_back(name);
    if (!filter.node.empty() && name != filter.node) continue;
    const auto found = told.find(name);
    maker.add_node(name, node, found == told.end() ? nullptr : &found->second);
  }
  for (const auto& [name, inventory] : told)
    if (std::ranges::count(maker.rows().nodes, name) == 0)
      maker.rows().notes.push_back(
          fmt::format("there is an inventory of node {}, but the node does not exist", name));
  ImageRows out = maker.take();
  std::ranges::sort(out.images, {}, [](const ImageRow& row) {
    return std::tie(row.node, row.image, row.tag, row.id);
  });
  return out;
}

std::string image_size_text(std::int64_t bytes) {
  constexpr std::array kUnits{"B", "kB", "MB", "GB", "TB", "PB", "EB"};
  auto size = static_cast<double>(bytes);
  std::size_t unit = 0;
  // 999.5 and more would be printed as 1e+03.
  for (; size >= 999.5 && unit + 1 < kUnits.size(); ++unit) size /= 1000;
  return fmt::format("{:.3g}{}", size, kUnits[unit]);
}

std::string short_id(std::string_view id) {
  const auto colon = id.find(':');
  return std::string(colon == id.npos ? id.substr(0, kShortId) : id.substr(colon + 1, kShortId));
}

}  // namespace plim::cli
