#include "images/collector.hpp"

#include <algorithm>
#include <sys/statvfs.h>
#include <utility>

#include <fmt/format.h>

#include "base/log.hpp"

namespace plim::images {
namespace {

using loop::ImageInventory;

constexpr double kNewShare = 0.3;  // weight of a new measurement in the average
constexpr Nanos kShortestPull = std::chrono::milliseconds(100);

std::optional<std::int64_t> capacity_of(const std::string& mountpoint) {
  struct statvfs found{};
  if (mountpoint.empty() || ::statvfs(mountpoint.c_str(), &found) != 0) return {};
  return static_cast<std::int64_t>(found.f_blocks * found.f_frsize);
}

}  // namespace

Collector::Collector(Runtime& runtime) : runtime_(runtime) {}

Task<Result<Collector::Look>> Collector::look() {
  if (name_.empty()) {
    auto version = co_await runtime_.version();
    if (!version) co_return version.error();
    inventory_.runtime = fmt::format("{}://{}", version->name, version->version);
    name_ = version->name;
    has_content_ = true;
  }
  auto held = co_await runtime_.images();
  if (!held) {
    name_.clear();
    co_return held.error();
  }
  Look out;
  std::vector<ImageInventory::Image> images = canonical_images(*held);
  if (images != images_ || !seen_ || !learnt_) {
    learnt_ = co_await learn_layers(images);
    images_ = std::move(images);
    ImageInventory made = assemble(images_, layers_);
    out.changed = !std::exchange(seen_, true) || made.images != inventory_.images ||
                  made.layers != inventory_.layers;
    inventory_.images = std::move(made.images);
    inventory_.layers = std::move(made.layers);
  }
  auto pulls = co_await look_at_pulls();
  if (!pulls) {
    name_.clear();
    co_return pulls.error();
  }
  out.changed = out.changed || *pulls != inventory_.pulling;
  out.pulling = !pulls->empty();
  inventory_.pulling = std::move(*pulls);
  co_return out;
}

Task<bool> Collector::learn_layers(std::vector<ImageInventory::Image> images) {
  std::set<std::string> wanted, present;
  for (const ImageInventory::Image& image : images) {
    present.insert(image.id);
    if (!layers_.contains(image.id)) wanted.insert(image.id);
  }
  std::erase_if(layers_, [&](const auto& entry) { return !present.contains(entry.first); });
  if (has_content_ && !wanted.empty()) {
    const bool learnt = co_await learn_from_content(&wanted);
    if (!learnt) co_return false;
  }
  if (wanted.empty()) co_return true;
  co_return co_await learn_from_configurations(&images, &wanted);
}

// Removes what it finds from `wanted`.
Task<bool> Collector::learn_from_content(std::set<std::string>* wanted) {
  auto blobs = co_await runtime_.content();
  if (!blobs) {
    has_content_ = blobs.error().code != Code::unimplemented;
    if (has_content_ && learnt_)  // warn once
      log::warn("images", "the content store does not report layers", {{"error", blobs.error()}});
    co_return !has_content_;
  }
  ContentLayers found = layers_from_content(*blobs, *wanted);
  blobs->clear();
  // A runtime that discards unpacked layers still has the manifests, which list them.
  for (const auto& [id, digest] : found.manifests) {
    auto layers = co_await runtime_.layers_of_manifest(digest);
    if (layers) found.known.emplace(id, std::move(*layers));
  }
  for (auto& [id, layers] : found.known) {
    wanted->erase(id);
    layers_.emplace(id, std::move(layers));
  }
  co_return true;
}

Task<bool> Collector::learn_from_configurations(const std::vector<ImageInventory::Image>* images,
                                                const std::set<std::string>* wanted) {
  for (const ImageInventory::Image& image : *images) {
    if (!wanted->contains(image.id)) continue;
    auto ids = co_await runtime_.diff_ids(image.id);
    if (ids && !ids->empty()) layers_.emplace(image.id, even_layers(*ids, image.size));
    // If the runtime does not respond, do not ask for the next image, which may take as long.
    if (!ids && is_retryable(ids.error().code)) co_return false;
  }
  co_return true;
}

Task<Result<std::vector<ImageInventory::Pull>>> Collector::look_at_pulls() {
  std::vector<ImageInventory::Pull> out;
  if (!has_content_) co_return out;
  auto ingests = co_await runtime_.ingests();
  if (!ingests && ingests.error().code == Code::unimplemented) {
    has_content_ = false;
    co_return out;
  }
  if (!ingests) co_return ingests.error();
  const std::vector<Ingest> layers = layer_ingests(std::move(*ingests));
  measure_bandwidth(layers);
  for (const Ingest& layer : layers)
    out.push_back({.ref = layer.ref, .offset = layer.offset, .total = layer.total});
  co_return out;
}

// The bytes received since the last look, divided by the time.
void Collector::measure_bandwidth(const std::vector<Ingest>& ingests) {
  std::int64_t moved = 0;
  WallTime from = WallTime::max(), until = WallTime::min();
  std::map<std::string, Ingest> writing;
  for (const Ingest& ingest : ingests) {
    const auto before = writing_.find(ingest.ref);
    const bool known = before != writing_.end() && before->second.started == ingest.started;
    moved += std::max<std::int64_t>(0, ingest.offset - (known ? before->second.offset : 0));
    from = std::min(from, known ? before->second.updated : ingest.started);
    until = std::max(until, ingest.updated);
    writing.emplace(ingest.ref, ingest);
  }
  writing_ = std::move(writing);
  if (moved == 0 || until - from < kShortestPull) return;
  const double seconds = std::chrono::duration<double>(until - from).count();
  const double measured = static_cast<double>(moved) / seconds;
  const auto before = static_cast<double>(inventory_.bandwidth);
  inventory_.bandwidth =
      static_cast<std::int64_t>(before == 0 ? measured : before + kNewShare * (measured - before));
}

Task<void> Collector::look_at_filesystem() {
  auto found = co_await runtime_.filesystems();
  if (!found || found->empty()) co_return;
  inventory_.fs_used = found->front().used;
  inventory_.fs_capacity = capacity_of(found->front().mountpoint);
}

}  // namespace plim::images
