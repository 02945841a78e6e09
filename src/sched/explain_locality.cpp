// Describes what ImageLocality saw, and the scores that kube-scheduler would give.
#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/duration.hpp"
#include "base/text.hpp"
#include "loop/image_reference.hpp"
#include "placement/locality.hpp"
#include "sched/config.hpp"
#include "sched/explain.hpp"

namespace plim::sched {
namespace {

// The images of a pod, parsed once: there is a record for every decision.
struct PodImages {
  struct Of {
    const kube::Container& container;
    placement::ImageKeys keys;
  };

  explicit PodImages(const kube::Pod& pod) : all(placement::images_of(pod)) {
    for (const auto* list : {&pod.spec.init_containers, &pod.spec.containers})
      for (const kube::Container& container : *list)
        containers.push_back({container, placement::image_keys(container.image)});
  }

  std::vector<placement::ImageKeys> all;  // each once, and those of volumes
  std::vector<Of> containers;
};

// "docker.io/library/busybox:latest 771 kB", all images of the pod.
std::string image_list(const Engine& engine, const PodImages& images) {
  std::vector<std::string> out;
  for (const placement::ImageKeys& keys : images.all) {
    std::int64_t size = 0;
    for (const std::string& key : keys)
      if (const auto* image = engine.cluster().images().image(key))
        size = std::max(size, image->size());
    if (!keys.empty())
      out.push_back(size > 0 ? fmt::format("{} {}", keys[0], image_size_text(size)) : keys[0]);
  }
  return fmt::format("{}", fmt::join(out, ", "));
}

// "; not counted: "No Such" is not a valid image name". Such names have no keys, so nodes seem to
// lack nothing.
std::string invalid_text(const PodImages& images) {
  std::vector<std::string> out;
  for (const auto& [container, keys] : images.containers)
    if (keys.empty() && std::ranges::find(out, quote(container.image)) == out.end())
      out.push_back(quote(container.image));
  if (out.empty()) return "";
  return fmt::format("not counted: {} {}", fmt::join(out, ", "),
                     out.size() == 1 ? "is not a valid image name" : "are not valid image names");
}

// How many images of the pod have an unknown size: they count as one byte each.
std::int64_t unknown_sizes(const Engine& engine, const PodImages& images) {
  return std::ranges::count_if(images.all, [&](const placement::ImageKeys& keys) {
    return std::ranges::none_of(keys, [&](const std::string& key) {
      const auto* image = engine.cluster().images().image(key);
      return image != nullptr && image->size() > 0;
    });
  });
}

std::string missing_text(std::int64_t bytes, std::int64_t unknown) {
  if (bytes > unknown) return fmt::format("missing {}", image_size_text(bytes));
  return bytes == 1 ? "missing an image of unknown size"
                    : fmt::format("missing {} images of unknown size", bytes);
}

// The API server sets the pull policy; files that people write may not have it.
bool always_pulled(const kube::Container& container, std::string_view key) {
  if (!container.image_pull_policy.empty()) return container.image_pull_policy == "Always";
  return key.ends_with(":latest");
}

// Images with a tag and the pull policy Always. The node may have their bytes, but only the
// registry knows whether the tag still refers to them.
std::vector<std::string> rechecked_images(const PodImages& images) {
  std::vector<std::string> out;
  for (const auto& [container, keys] : images.containers) {
    if (keys.empty() || keys[0].find('@') != std::string::npos || loop::is_image_digest(keys[0]))
      continue;
    if (always_pulled(container, keys[0]) && std::ranges::find(out, keys[0]) == out.end())
      out.push_back(keys[0]);
  }
  return out;
}

// ", will re-check registry", and for which image if there are several.
std::string recheck_text(const PodImages& images) {
  const std::vector<std::string> rechecked = rechecked_images(images);
  if (rechecked.empty()) return "";
  if (rechecked.size() == images.all.size()) return ", will re-check registry";
  return fmt::format(", will re-check registry for {}", fmt::join(rechecked, ", "));
}

// How many bytes kube-scheduler would count for a node that has the images under the same names.
std::int64_t scaled_bytes(const Engine& engine, const PodImages& images) {
  const auto nodes = static_cast<double>(engine.node_count());
  std::int64_t out = 0;
  for (const placement::ImageKeys& keys : images.all)
    for (const std::string& key : keys)
      if (const auto* image = engine.cluster().images().image(key)) {
        const double share = static_cast<double>(image->by_status.count()) / nodes;
        out += static_cast<std::int64_t>(static_cast<double>(image->size()) * share);
        break;
      }
  return out;
}

std::string compat_note(const Engine& engine, const PodImages& images,
                        const ExplainRecord::Compat& compat) {
  std::vector<std::int64_t> scores;
  for (const auto& [node, score] : compat.scores)
    if (scores.size() < 5) scores.push_back(score);
  std::vector<std::string> causes;
  for (const auto& [container, keys] : images.containers) {
    const std::string key = placement::stock_image_name(container.image);
    if (engine.cluster().images().status_name(key) != nullptr) continue;
    std::string cause = fmt::format("key {} not among status.images names", quote(key));
    if (std::ranges::find(causes, cause) == causes.end()) causes.push_back(std::move(cause));
  }
  if (const std::int64_t scaled = scaled_bytes(engine, images);
      scaled < placement::kStockImageFloor)
    causes.push_back(fmt::format("scaled {} B < floor {} B", scaled, placement::kStockImageFloor));
  return fmt::format("kube-scheduler would give {}{}{}{}", fmt::join(scores, "/"),
                     compat.scores.size() > scores.size() ? "/..." : "", causes.empty() ? "" : ": ",
                     fmt::join(causes, "; "));
}

// ", by Etcd 12s ago": the source, if there can be several.
std::string report_text(const placement::ImagesKnown& known) {
  if (!known.reporter) return ", by its status";
  const std::string age = human_duration(std::max(known.age, Nanos(0)));
  if (known.by != InventorySource::StatusOnly)
    return fmt::format(", by {} {} ago", name_of(known.by), age);
  if (known.age < Nanos(0))
    return fmt::format(", by its status: {} is dated {} ahead", name_of(*known.reporter),
                       human_duration(-known.age));
  return fmt::format(", by its status: {} is {} old", name_of(*known.reporter), age);
}

// Names bound pods where they decided: then no report has the images.
std::string source_text(const placement::ImagesKnown& known, bool with_report) {
  if (known.only_by_pods) return ", by pods bound to the node";
  std::string out = with_report ? report_text(known) : "";
  if (known.by_pods > 0)
    out += fmt::format(", {} of the images by pods bound to the node", known.by_pods);
  return out;
}

bool tells_sources(const Profile& profile, const std::vector<ScoredNode>& rows) {
  if (profile.locality.mode == LocalityMode::Compat) return false;  // always uses the node's status
  const InventorySource asked = profile.locality.inventory;
  return (asked != InventorySource::Auto && asked != InventorySource::StatusOnly) ||
         std::ranges::any_of(rows,
                             [](const ScoredNode& row) { return row.images.reporter.has_value(); });
}

}  // namespace

void explain_locality(const Engine& engine, const kube::Pod& pod, const Profile& profile,
                      ExplainRecord& record) {
  const auto plugin =
      std::ranges::find(profile.score, PluginId::ImageLocality, &WeightedPlugin::plugin);
  if (plugin == profile.score.end() || record.decision.rows.empty()) return;
  const PodImages images(pod);
  const std::string present = image_list(engine, images) + " present" + recheck_text(images);
  const std::string invalid = invalid_text(images);
  const bool has_images = !images.all.empty();
  const std::int64_t unknown = unknown_sizes(engine, images);
  const bool with_sources = tells_sources(profile, record.decision.rows);
  record.details.reserve(record.decision.rows.size());
  for (const ScoredNode& row : record.decision.rows) {
    std::string& detail = record.details.emplace_back();
    if (has_images) {
      detail = row.missing_bytes == 0 ? present : missing_text(row.missing_bytes, unknown);
      if (profile.locality.mode != LocalityMode::Compat)
        detail += source_text(row.images, with_sources);
    }
    if (!invalid.empty()) detail += (has_images ? "; " : "") + invalid;
  }
  if (profile.locality.mode == LocalityMode::Compat) return;
  std::vector<NodeIndex> nodes;
  for (const ScoredNode& row : record.decision.rows)
    if (auto node = engine.cluster().table().find(row.node)) nodes.push_back(*node);
  if (nodes.size() != record.decision.rows.size()) return;
  const auto scores = placement::stock_image_scores(engine.cluster(), pod.spec, nodes);
  ExplainRecord::Compat compat;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const ScoredNode& row = record.decision.rows[i];
    compat.scores.emplace_back(row.node, scores[i]);
    if (row.node != record.decision.node) continue;
    compat.total = row.total + scores[i] * plugin->weight;
    for (const PluginScore& score : row.scores)
      if (score.plugin == PluginId::ImageLocality) compat.total -= score.weighted;
  }
  record.notes.push_back(compat_note(engine, images, compat));
  record.compat = std::move(compat);
}

}  // namespace plim::sched
