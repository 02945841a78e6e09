#include "placement/image_table.hpp"

#include <algorithm>
#include <functional>
#include <utility>

#include "base/rfc3339.hpp"
#include "kube/selector.hpp"
#include "loop/image_annotation.hpp"
#include "loop/image_reference.hpp"
#include "placement/image_history.hpp"

namespace plim::placement {
namespace {

std::size_t hash_of(const std::vector<kube::NodeImage>& images) {
  std::size_t out = images.size();
  auto mix = [&](std::size_t value) { out = out * 1099511628211u ^ value; };
  for (const kube::NodeImage& image : images) {
    mix(static_cast<std::size_t>(image.bytes));
    for (const kube::Interned& name : image.names) mix(std::hash<std::string_view>()(name));
  }
  return out;
}

constexpr WallTime kNeverReported = WallTime::min();

// Nodes report the sizes: limits them so that sums do not overflow.
std::int64_t believable(std::int64_t bytes) {
  return std::clamp(bytes, std::int64_t{0}, std::int64_t{1} << 40);
}

// "@sha256:…" is the key of the content in any repository.
std::string content_key(std::string_view digest) {
  return std::string("@").append(digest);
}

}  // namespace

ImageKeys image_keys(std::string_view reference) {
  if (loop::is_image_digest(reference)) return {std::string(reference)};
  auto parsed = loop::ImageReference::parse(reference);
  if (!parsed) return {};
  // If there is a digest, the tag has no effect.
  if (!parsed->digest.empty()) return {parsed->pinned(), content_key(parsed->digest)};
  return {parsed->tagged()};
}

std::vector<ImageKeys> images_of(const kube::Pod& pod, const ImageHistory* history) {
  std::vector<ImageKeys> out;
  auto add = [&](std::string_view reference) {
    ImageKeys keys = image_keys(reference);
    if (history != nullptr)
      for (const std::string& key : history->find(pod, reference))
        if (std::ranges::find(keys, key) == keys.end()) keys.push_back(key);
    if (!keys.empty() && std::ranges::find(out, keys) == out.end()) out.push_back(std::move(keys));
  };
  for (const kube::Container& container : pod.spec.init_containers) add(container.image);
  for (const kube::Container& container : pod.spec.containers) add(container.image);
  for (const kube::PodVolume& volume : pod.spec.volumes)
    if (!volume.image.empty()) add(volume.image);
  return out;
}

ImageTable::Row& ImageTable::row_of(NodeIndex row) {
  if (rows_.size() <= row) rows_.resize(row + 1u);
  return rows_[row];
}

ImageTable::Image& ImageTable::use_image(std::string_view key) {
  auto at = images_.find(key);
  if (at == images_.end()) {
    at = images_.try_emplace(std::string(key)).first;
    at->second.key = &at->first;
  }
  ++at->second.users;
  return at->second;
}

void ImageTable::drop_image(Image& image) {
  if (--image.users != 0) return;
  set_layers(image, {});
  images_.erase(images_.find(*image.key));
}

ImageTable::Layer& ImageTable::use_layer(std::string_view digest) {
  auto at = layers_.find(digest);
  if (at == layers_.end()) {
    at = layers_.try_emplace(std::string(digest)).first;
    at->second.digest = &at->first;
  }
  ++at->second.users;
  return at->second;
}

void ImageTable::drop_layer(Layer& layer) {
  if (--layer.users == 0) layers_.erase(layers_.find(*layer.digest));
}

void ImageTable::set_layers(Image& image, const std::vector<Layer*>& layers) {
  for (Layer* layer : layers) ++layer->users;
  for (Layer* layer : image.layers) drop_layer(*layer);
  image.layers = layers;
}

void ImageTable::set_status(NodeIndex index, const std::vector<kube::NodeImage>& images) {
  Row& row = row_of(index);
  std::size_t hash = hash_of(images);
  if (hash == row.status_hash) return;  // most updates of a node do not change its images
  ++version_;
  clear_status(row, index);
  row.status_hash = hash;
  for (const kube::NodeImage& image : images) {
    for (const kube::Interned& name : image.names) {
      auto [at, is_new] = names_.try_emplace(std::string(name.view()));
      if (is_new) {
        at->second.size = believable(image.bytes);
        at->second.name = &at->first;
      }
      if (!at->second.rows.has(index)) row.names.push_back(&at->second);
      at->second.rows.set(index, true);
      for (const std::string& key : image_keys(name)) {
        Image& known = use_image(key);
        if (known.size_in_status == 0) known.size_in_status = believable(image.bytes);
        known.by_status.set(index, true);
        row.by_status.push_back(&known);
      }
    }
  }
}

void ImageTable::clear_status(Row& row, NodeIndex index) {
  for (StatusName* name : row.names) {
    name->rows.set(index, false);
    if (name->rows.empty()) names_.erase(names_.find(*name->name));
  }
  for (Image* image : row.by_status) {
    image->by_status.set(index, false);
    if (image->by_status.empty()) image->size_in_status = 0;
    drop_image(*image);
  }
  row.names.clear();
  row.by_status.clear();
}

Result<void> ImageTable::set_annotations(NodeIndex index, const kube::Annotations& annotations) {
  constexpr auto kBy = InventorySource::Annotation;
  const std::string_view text = kube::find_label(annotations, loop::kImagesAnnotation).value_or("");
  const std::string_view when =
      kube::find_label(annotations, loop::kImagesTimeAnnotation).value_or("");
  const std::hash<std::string_view> hash;
  const std::size_t hashed = text.empty() ? 0 : hash(text) * 1099511628211u ^ hash(when);
  Row& row = row_of(index);
  if (hashed == row.annotation_hash) return {};  // most updates of a node do not change it
  row.annotation_hash = hashed;
  if (text.empty()) {
    remove_inventory(index, kBy);
    return {};
  }
  auto inventory = loop::images_from_annotation(text);
  auto time = parse_rfc3339(when);
  if (!inventory || !time) {
    remove_inventory(index, kBy);
    return inventory ? time.error() : inventory.error();
  }
  inventory->reported_at = *time;
  set_inventory(index, kBy, *inventory);
  return {};
}

void ImageTable::set_inventory(NodeIndex index, InventorySource reporter,
                               const loop::ImageInventory& inventory) {
  ++version_;
  const std::size_t by = place_of(reporter);
  Told& told = row_of(index).told[by];
  // Adds the new entries before it drops the old ones, so that those in both are not deleted in
  // between.
  Told before = std::exchange(told, Told());
  for (Image* image : before.images) image->by_inventory[by].set(index, false);
  for (Layer* layer : before.layers) layer->rows[by].set(index, false);

  for (const loop::ImageInventory::Layer& layer : inventory.layers) {
    Layer& known = use_layer(layer.digest);
    known.size = believable(layer.size);
    known.rows[by].set(index, true);
    told.layers.push_back(&known);
  }
  for (const loop::ImageInventory::Image& image : inventory.images) {
    std::vector<Layer*> layers;
    for (std::uint32_t at : image.layers)
      if (at < inventory.layers.size()) layers.push_back(told.layers[at]);
    auto enter = [&](std::string_view key) {
      Image& known = use_image(key);
      known.size_in_inventory = believable(image.size);
      if (!layers.empty()) set_layers(known, layers);
      known.by_inventory[by].set(index, true);
      told.images.push_back(&known);
    };
    if (reporter == InventorySource::Annotation) {
      enter(image.id);  // the hash of a name
      continue;
    }
    enter(loop::canonical_image_id(image.id));
    for (const std::string& name : image.names)
      for (const std::string& key : image_keys(name)) enter(key);
  }
  Report report{.reported_at = inventory.reported_at, .bandwidth = inventory.bandwidth};
  forget(before);
  // The inventory's layers do not include those that the node still pulls.
  for (const loop::ImageInventory::Pull& pull : inventory.pulling) {
    const auto layer = layers_.find(pull.ref);
    if (layer == layers_.end() || pull.total <= 0) continue;
    // A layer that two pulls fetch counts once.
    const auto earlier = std::ranges::find(report.pulling, &layer->second, &Pulling::layer);
    if (earlier != report.pulling.end()) continue;
    ++layer->second.users;
    told.layers.push_back(&layer->second);
    report.pulling.push_back({&layer->second, pull.offset, pull.total});
  }
  note_report(index, reporter, std::move(report));
}

// Drops what this reporter no longer reports for the row.
void ImageTable::forget(Told& told) {
  for (Image* image : told.images) {
    // Without a report the size and the layers are unknown.
    if (std::ranges::all_of(image->by_inventory, &RowSet::empty)) {
      image->size_in_inventory = 0;
      set_layers(*image, {});
    }
    drop_image(*image);
  }
  for (Layer* layer : told.layers) drop_layer(*layer);
}

void ImageTable::note_report(NodeIndex index, InventorySource reporter,
                             std::optional<Report> report) {
  const std::size_t by = place_of(reporter);
  std::vector<WallTime>& times = reported_[by];
  if (times.size() <= index) times.resize(index + 1u, kNeverReported);
  if (times[index] != kNeverReported) --told_[by];
  if (report) ++told_[by];
  times[index] = report ? report->reported_at : kNeverReported;
  pulling_[by].set(index, report && !report->pulling.empty());
  rows_[index].told[by].report = std::move(report);
}

void ImageTable::remove_inventory(NodeIndex index, InventorySource reporter) {
  ++version_;
  const std::size_t by = place_of(reporter);
  Told gone = std::exchange(row_of(index).told[by], Told());
  for (Image* image : gone.images) image->by_inventory[by].set(index, false);
  for (Layer* layer : gone.layers) layer->rows[by].set(index, false);
  forget(gone);
  note_report(index, reporter, std::nullopt);
}

void ImageTable::count_promised(const std::vector<std::string>& keys, NodeIndex row,
                                WallTime bound_at, int sign) {
  for (const std::string& key : keys) {
    if (sign > 0) {
      Image& image = use_image(key);
      image.promised[row].push_back(bound_at);
      image.promised_rows.set(row, true);
      continue;
    }
    Image& image = images_.find(key)->second;
    std::vector<WallTime>& times = image.promised[row];
    times.erase(std::ranges::find(times, bound_at));
    if (times.empty()) {
      image.promised.erase(row);
      image.promised_rows.set(row, false);
    }
    drop_image(image);
  }
}

WallTime ImageTable::Image::last_promise(NodeIndex row) const {
  return std::ranges::max(promised.find(row)->second);
}

const ImageTable::StatusName* ImageTable::status_name(std::string_view name) const {
  auto at = names_.find(name);
  return at == names_.end() ? nullptr : &at->second;
}

const ImageTable::Image* ImageTable::image(std::string_view key) const {
  auto at = images_.find(key);
  return at == images_.end() ? nullptr : &at->second;
}

const ImageTable::Report* ImageTable::report(NodeIndex row, InventorySource reporter) const {
  if (row >= rows_.size()) return nullptr;
  const Told& told = rows_[row].told[place_of(reporter)];
  return told.report ? &*told.report : nullptr;
}

ImageTable::Reported ImageTable::reported_between(InventorySource reporter, WallTime since,
                                                  WallTime until) const {
  Reported out;
  if (told_[place_of(reporter)] == 0) return out;
  const std::vector<WallTime>& times = reported_[place_of(reporter)];
  for (NodeIndex row = 0; row < times.size(); ++row)
    if (times[row] > until) {
      out.first_ahead = std::min(out.first_ahead, times[row]);
    } else if (times[row] >= since) {
      out.rows.set(row, true);
      out.oldest = std::min(out.oldest, times[row]);
    }
  return out;
}

}  // namespace plim::placement
