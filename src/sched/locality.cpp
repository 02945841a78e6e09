// ImageLocality: kube-scheduler's formula, and two that tell nodes apart (spec 1.5).
#include "sched/locality.hpp"

#include <algorithm>
#include <map>

#include "loop/image_annotation.hpp"

namespace plim::sched {
namespace {

constexpr std::int64_t kMiB = 1024 * 1024;
constexpr std::int64_t kFloor = kStockImageFloor;
constexpr std::int64_t kCeilingPerContainer = 1000 * kMiB;

// Sizes come from nodes: none may make the sums run over.
std::int64_t believable(std::int64_t bytes) {
  return std::clamp(bytes, std::int64_t{0}, std::int64_t{1} << 44);
}

// By row; empty where no node has any of the images.
std::vector<std::int64_t> stock_sums(const Cluster& cluster, const kube::PodSpec& spec) {
  const NodeTable& table = cluster.table();
  std::vector<std::int64_t> sums;
  const auto nodes = static_cast<double>(table.live().size());
  auto add = [&](const kube::Container& container) {
    const auto* name = cluster.images().status_name(stock_image_name(container.image));
    if (name == nullptr) return;
    sums.resize(table.rows(), 0);
    double spread = static_cast<double>(name->rows.count()) / nodes;
    auto scaled = static_cast<std::int64_t>(static_cast<double>(believable(name->size)) * spread);
    name->rows.each([&](NodeIndex row) { sums[row] += scaled; });
  };
  for (const kube::Container& container : spec.init_containers) add(container);
  for (const kube::Container& container : spec.containers) add(container);
  return sums;
}

std::int64_t pull_time_score(const Cycle& cycle, const ImageView& view, NodeIndex row) {
  const LocalityArgs& args = cycle.profile.locality;
  std::int64_t bandwidth = args.pull_bandwidth;
  if (const auto by = view.reporter(row))
    if (const auto* report = cycle.cluster.images().report(row, *by); report->bandwidth > 0)
      bandwidth = report->bandwidth;
  double seconds = static_cast<double>(view.missing(row)) /
                   static_cast<double>(std::max<std::int64_t>(bandwidth, 1));
  double horizon = static_cast<double>(std::max<std::int64_t>(args.horizon.count(), 1)) / 1000.0;
  return static_cast<std::int64_t>(100.0 * std::max(0.0, 1.0 - seconds / horizon));
}

// A part of an image that is there or not: a layer, or the image as a whole where its layers are
// not known.
struct Piece {
  std::int64_t size = 0;
  RowSet rows;
};

// After so long a pull is over, or will never be: what the node reports counts again.
constexpr Nanos kPromiseKept = std::chrono::minutes(10);

// An image that a pod on the row needs, and that the row's inventory does not have.
bool is_believed(const ImageTable::Image& image, const Cycle& cycle, const ImageView& view,
                 NodeIndex row) {
  const WallTime promised = image.last_promise(row);
  if (promised > cycle.now - kPromiseKept) return true;
  return cycle.cluster.images().report(row, *view.reporter(row))->reported_at <= promised;
}

// Where an image is as a whole.
RowSet holders_of(const ImageTable::Image& image, const Cycle& cycle, const ImageView& view) {
  RowSet out;
  for (std::size_t by = 0; by < kReporters.size(); ++by)
    out.add(image.by_inventory[by], view.told_by[by], true);
  out.add(image.by_status, view.fresh, false);
  RowSet doubtful;
  doubtful.add(image.promised_rows, out, false);
  doubtful.keep(view.fresh);
  out.add(image.promised_rows, doubtful, false);
  doubtful.each([&](NodeIndex row) {
    if (is_believed(image, cycle, view, row)) out.set(row, true);
  });
  return out;
}

struct Wanted {
  const ImageTable::Image* facts = nullptr;  // the first key that says more than who has it
  RowSet holders;
};

Wanted look_up(const Cycle& cycle, const ImageKeys& keys, const ImageView& view) {
  const ImageTable& table = cycle.cluster.images();
  Wanted out;
  auto add = [&](std::string_view key) {
    const auto* image = table.image(key);
    if (image == nullptr) return;
    out.holders.add(holders_of(*image, cycle, view));
    if (out.facts == nullptr || (out.facts->layers.empty() && !image->layers.empty()) ||
        (out.facts->size() == 0 && image->size() != 0))
      out.facts = image;
  };
  for (const std::string& key : keys) add(key);
  if (table.has_hashed_names())
    for (const std::string& key : keys) add(loop::hashed_image_name(key));
  return out;
}

// Of every node the first reporter that the profile believes and that reported lately.
void choose_reporters(const Cycle& cycle, ImageView& out) {
  const LocalityArgs& args = cycle.profile.locality;
  for (InventorySource reporter : kReporters) {
    if (args.inventory != InventorySource::Auto && args.inventory != reporter) continue;
    RowSet& rows = out.told_by[place_of(reporter)];
    rows.add(cycle.cluster.images().reported_since(reporter, cycle.now - args.inventory_max_age),
             out.fresh, false);
    out.fresh.add(rows);
  }
}

void add_pulls(const Cycle& cycle, const std::map<const ImageTable::Layer*, Piece>& layers,
               ImageView& out) {
  const ImageTable& table = cycle.cluster.images();
  for (InventorySource reporter : kReporters) {
    RowSet rows = table.pulling(reporter);
    rows.keep(out.told_by[place_of(reporter)]);
    rows.each([&](NodeIndex row) {
      for (const ImageTable::Pulling& pull : table.report(row, reporter)->pulling) {
        auto piece = layers.find(pull.layer);
        if (piece == layers.end() || piece->second.rows.has(row) || row >= out.have.size())
          continue;
        double share = std::clamp(
            static_cast<double>(pull.offset) / static_cast<double>(pull.total), 0.0, 1.0);
        out.have[row] += static_cast<std::int64_t>(static_cast<double>(piece->second.size) * share);
      }
    });
  }
}

class ImagesFilter final : public FilterOf<ImagesFilter> {
 public:
  explicit ImagesFilter(Cycle& cycle)
      : view_(cycle.image_view()),
        refused_(cycle.verdicts.id_of(PluginId::ImageLocality, RejectCode::unresolvable,
                                      "node(s) did not have the required images")) {}

  Verdict judge(NodeIndex row) const { return view_.complete.has(row) ? kFits : refused_; }

 private:
  const ImageView& view_;
  Verdict refused_;
};

}  // namespace

std::string stock_image_name(std::string_view image) {
  std::string out(image);
  auto colon = image.rfind(':'), slash = image.rfind('/');
  bool tagged =
      colon != std::string_view::npos && (slash == std::string_view::npos || colon > slash);
  if (!tagged) out += ":latest";
  return out;
}

std::vector<std::int64_t> stock_image_scores(const Cluster& cluster, const kube::PodSpec& spec,
                                             std::span<const NodeIndex> rows) {
  auto containers = static_cast<std::int64_t>(spec.init_containers.size() + spec.containers.size());
  const std::int64_t ceiling = std::max(kCeilingPerContainer * containers, kFloor + 1);
  const auto sums = stock_sums(cluster, spec);
  if (sums.empty()) return std::vector<std::int64_t>(rows.size(), 0);
  std::vector<std::int64_t> out;
  out.reserve(rows.size());
  for (NodeIndex row : rows)
    out.push_back(100 * (std::clamp(sums[row], kFloor, ceiling) - kFloor) / (ceiling - kFloor));
  return out;
}

ImageView view_images(Cycle& cycle) {
  const LocalityArgs& args = cycle.profile.locality;
  const std::size_t rows = cycle.cluster.table().rows();
  ImageView out;
  out.have.assign(rows, 0);
  choose_reporters(cycle, out);
  std::vector<Piece> wholes;
  std::map<const ImageTable::Layer*, Piece> layers;
  bool first = true;
  for (const ImageKeys& keys : images_of(cycle.in.pod, &cycle.cluster.image_history())) {
    Wanted wanted = look_up(cycle, keys, out);
    if (first)
      out.complete = wanted.holders;
    else
      out.complete.keep(wanted.holders);
    first = false;
    if (args.layers && wanted.facts != nullptr && !wanted.facts->layers.empty()) {
      for (const ImageTable::Layer* layer : wanted.facts->layers) {
        Piece& piece = layers[layer];
        piece.size = std::max<std::int64_t>(believable(layer->size), 1);
        for (std::size_t by = 0; by < kReporters.size(); ++by)
          piece.rows.add(layer->rows[by], out.told_by[by], true);
        piece.rows.add(wanted.holders);
      }
      continue;
    }
    // Of unknown size it still matters who has it.
    std::int64_t size = wanted.facts != nullptr ? believable(wanted.facts->size()) : 0;
    wholes.push_back({std::max<std::int64_t>(size, 1), std::move(wanted.holders)});
  }
  auto count = [&](const Piece& piece) {
    out.need += piece.size;
    piece.rows.each([&](NodeIndex row) {
      if (row < rows) out.have[row] += piece.size;
    });
  };
  for (const Piece& piece : wholes) count(piece);
  for (const auto& [layer, piece] : layers) count(piece);
  add_pulls(cycle, layers, out);
  return out;
}

std::optional<InventorySource> ImageView::reporter(NodeIndex row) const {
  for (InventorySource by : kReporters)
    if (told_by[place_of(by)].has(row)) return by;
  return std::nullopt;
}

ImagesKnown images_known(const Cycle& cycle, const ImageView& view, NodeIndex row) {
  const ImageTable& table = cycle.cluster.images();
  ImagesKnown out;
  out.reporter = view.reporter(row);
  if (out.reporter) {
    out.by = *out.reporter;
    out.age = cycle.now - table.report(row, out.by)->reported_at;
    return out;
  }
  const InventorySource asked = cycle.profile.locality.inventory;
  for (InventorySource by : kReporters) {
    if (asked != InventorySource::Auto && asked != by) continue;
    const auto* report = table.report(row, by);
    if (report == nullptr) continue;
    const Nanos age = cycle.now - report->reported_at;
    if (out.reporter && out.age <= age) continue;
    out.reporter = by;
    out.age = age;
  }
  return out;
}

const ImageView& Cycle::image_view() {
  if (!images) images = std::make_shared<const ImageView>(view_images(*this));
  return *images;
}

std::unique_ptr<Filter> make_images_filter(Cycle& cycle) {
  bool asked =
      cycle.profile.locality.require ||
      kube::find_label(cycle.in.pod.meta.annotations, "plimsoll.io/require-images") == "true";
  if (!asked || cycle.image_view().need == 0) return nullptr;
  return std::make_unique<ImagesFilter>(cycle);
}

bool score_locality(Cycle& cycle, std::span<const NodeIndex> rows, ScoreColumn& out) {
  if (cycle.profile.locality.mode == LocalityMode::Compat) {
    out.raw = stock_image_scores(cycle.cluster, cycle.in.pod.spec, rows);
  } else {
    const ImageView& view = cycle.image_view();
    for (NodeIndex row : rows) {
      if (cycle.profile.locality.mode == LocalityMode::PullTime)
        out.raw.push_back(pull_time_score(cycle, view, row));
      else
        out.raw.push_back(view.need == 0 ? 0 : 100 * view.have[row] / view.need);
    }
  }
  out.normalized = out.raw;
  return true;
}

}  // namespace plim::sched
