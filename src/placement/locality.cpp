// ImageLocality: kube-scheduler's formula, and two formulas by missing bytes and by pull time.
#include "placement/locality.hpp"

#include <algorithm>
#include <iterator>

#include "loop/image_annotation.hpp"
#include "placement/node_class.hpp"
#include "placement/plugins.hpp"

namespace plim::placement {
namespace {

constexpr std::int64_t kMiB = 1024 * 1024;
constexpr std::int64_t kFloor = kStockImageFloor;
constexpr std::int64_t kCeilingPerImage = 1000 * kMiB;

// An image that kube-scheduler's formula finds on a node, and what it adds to the node's score.
struct StockImage {
  const RowSet* rows = nullptr;
  std::int64_t bytes = 0;
};

// The names that kube-scheduler's formula looks at.
std::vector<std::string_view> stock_references(const kube::PodSpec& spec, const Release& release) {
  std::vector<std::string_view> out;
  for (const kube::Container& one : spec.init_containers) out.emplace_back(one.image);
  for (const kube::Container& one : spec.containers) out.emplace_back(one.image);
  if (release.scores_image_volumes())
    for (const kube::PodVolume& one : spec.volumes)
      if (!one.image.empty()) out.emplace_back(one.image);
  return out;
}

std::vector<StockImage> stock_images(const ClusterTables& cluster,
                                     std::span<const std::string_view> references) {
  std::vector<StockImage> out;
  const auto nodes = static_cast<double>(cluster.table().live().size());
  for (const std::string_view reference : references) {
    const auto* name = cluster.images().status_name(stock_image_name(reference));
    if (name == nullptr) continue;
    double spread = static_cast<double>(name->rows.count()) / nodes;
    out.push_back(
        {&name->rows, static_cast<std::int64_t>(static_cast<double>(name->size) * spread)});
  }
  return out;
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

// After this time a pull has finished or has failed: then the node's report counts again.
constexpr Nanos kPromiseKept = std::chrono::minutes(10);

// Adds without overflow.
WallTime later(WallTime time, Nanos by) {
  return time > WallTime::max() - by ? WallTime::max() : time + by;
}

// Whether a report that is used, or else the node's status, has the image.
bool is_reported(const ImageTable::Image& image, NodeIndex row, const ImageView& view) {
  for (std::size_t by = 0; by < kReporters.size(); ++by)
    if (view.told_by[by].has(row) && image.by_inventory[by].has(row)) return true;
  return !view.fresh.has(row) && image.by_status.has(row);
}

// Whether the row gets an image that its pod needs although its inventory does not have it yet.
bool is_expected(const ImageTable::Image& image, const Cycle& cycle, NodeIndex row,
                 const ImageView& view) {
  const WallTime promised = image.last_promise(row);
  return promised > cycle.now - kPromiseKept ||
         cycle.cluster.images().report(row, *view.reporter(row))->reported_at <= promised;
}

// The same, and notes until when it holds.
bool is_believed(const ImageTable::Image& image, const Cycle& cycle, NodeIndex row,
                 ImageView& view) {
  if (const WallTime promised = image.last_promise(row); promised > cycle.now - kPromiseKept)
    view.until = std::min(view.until, later(promised, kPromiseKept - Nanos(1)));
  return is_expected(image, cycle, row, view);
}

// The rows that have the whole image.
RowSet holders_of(const ImageTable::Image& image, const Cycle& cycle, ImageView& view) {
  RowSet out;
  for (std::size_t by = 0; by < kReporters.size(); ++by)
    out.add(image.by_inventory[by], view.told_by[by], true);
  out.add(image.by_status, view.fresh, false);
  RowSet doubtful;
  doubtful.add(image.promised_rows, out, false);
  doubtful.keep(view.fresh);
  out.add(image.promised_rows, doubtful, false);
  doubtful.each([&](NodeIndex row) {
    if (is_believed(image, cycle, row, view)) out.set(row, true);
  });
  return out;
}

// The same for one row.
bool is_holder(const ImageTable::Image& image, const Cycle& cycle, NodeIndex row, ImageView& view) {
  return is_reported(image, row, view) ||
         (image.promised_rows.has(row) &&
          (!view.fresh.has(row) || is_believed(image, cycle, row, view)));
}

struct Found {
  const ImageTable::Image* facts = nullptr;  // of the first key with a known size or layers
  RowSet holders;
};

Found look_up(const Cycle& cycle, const ImageKeys& keys, ImageView& view) {
  Found out;
  for (const std::string& key : keys) {
    const auto* image = cycle.cluster.images().image(key);
    if (image == nullptr) continue;
    out.holders.add(holders_of(*image, cycle, view));
    if (out.facts == nullptr || (out.facts->layers.empty() && !image->layers.empty()) ||
        (out.facts->size() == 0 && image->size() != 0))
      out.facts = image;
  }
  return out;
}

std::vector<ImageKeys> wanted_images(const Cycle& cycle) {
  std::vector<ImageKeys> out = images_of(cycle.in.pod, &cycle.cluster.image_history());
  if (!cycle.cluster.images().has_hashed_names()) return out;
  for (ImageKeys& keys : out) {
    ImageKeys hashed;
    for (const std::string& key : keys) hashed.push_back(loop::hashed_image_name(key));
    std::ranges::move(hashed, std::back_inserter(keys));
  }
  return out;
}

// Chooses for every node the first reporter that the profile allows and whose report is fresh. A
// report dated too far in the future is ignored too: it would stay fresh after its agent is gone.
void choose_reporters(const Cycle& cycle, ImageView& out) {
  const LocalityArgs& args = cycle.profile.locality;
  for (InventorySource reporter : kReporters) {
    if (args.inventory != InventorySource::Auto && args.inventory != reporter) continue;
    const auto reported = cycle.cluster.images().reported_between(
        reporter, cycle.now - args.inventory_max_age, later(cycle.now, args.inventory_max_age));
    RowSet& rows = out.told_by[place_of(reporter)];
    rows.add(reported.rows, out.fresh, false);
    out.fresh.add(rows);
    out.until = std::min(out.until, later(reported.oldest, args.inventory_max_age));
    out.until = std::min(out.until, reported.first_ahead - args.inventory_max_age - Nanos(1));
  }
}

ImageView::Piece* piece_of(const ImageTable::Layer* layer, ImageView& view) {
  const auto at = std::ranges::find(view.pieces, layer, &ImageView::Piece::layer);
  return at == view.pieces.end() ? nullptr : &*at;
}

// Adds the pieces of the image at that index.
void add_pieces(const Cycle& cycle, std::size_t at, const Found& found, ImageView& out) {
  if (!cycle.profile.locality.layers || found.facts == nullptr || found.facts->layers.empty()) {
    // An image of unknown size still counts for nodes that have it.
    const std::int64_t size = found.facts != nullptr ? found.facts->size() : 0;
    out.pieces.push_back({.size = std::max<std::int64_t>(size, 1), .of = {at}});
    out.pieces.back().rows = found.holders;
    return;
  }
  for (const ImageTable::Layer* layer : found.facts->layers) {
    ImageView::Piece* piece = piece_of(layer, out);
    if (piece == nullptr) {
      piece = &out.pieces.emplace_back();
      piece->layer = layer;
      piece->size = std::max<std::int64_t>(layer->size, 1);
      for (std::size_t by = 0; by < kReporters.size(); ++by)
        piece->rows.add(layer->rows[by], out.told_by[by], true);
    }
    piece->of.push_back(at);
    piece->rows.add(found.holders);
  }
}

// Adds what the row has pulled already of pieces that it does not have yet.
void add_pulls(const ImageTable& table, InventorySource reporter, NodeIndex row, ImageView& out) {
  for (const ImageTable::Pulling& pull : table.report(row, reporter)->pulling) {
    const ImageView::Piece* piece = piece_of(pull.layer, out);
    if (piece == nullptr || piece->rows.has(row) || row >= out.have.size()) continue;
    double share =
        std::clamp(static_cast<double>(pull.offset) / static_cast<double>(pull.total), 0.0, 1.0);
    out.have[row] += static_cast<std::int64_t>(static_cast<double>(piece->size) * share);
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

std::vector<std::int64_t> stock_image_scores(const ClusterTables& cluster,
                                             const kube::PodSpec& spec,
                                             std::span<const NodeIndex> rows) {
  const std::vector<std::string_view> references = stock_references(spec, cluster.release());
  const auto count = static_cast<std::int64_t>(references.size());
  const std::int64_t ceiling = std::max(kCeilingPerImage * count, kFloor + 1);
  const std::vector<StockImage> images = stock_images(cluster, references);
  if (images.empty()) return std::vector<std::int64_t>(rows.size(), 0);
  std::vector<std::int64_t> out;
  out.reserve(rows.size());
  for (NodeIndex row : rows) {
    std::int64_t sum = 0;
    for (const StockImage& image : images)
      if (image.rows->has(row)) sum += image.bytes;
    out.push_back(100 * (std::clamp(sum, kFloor, ceiling) - kFloor) / (ceiling - kFloor));
  }
  return out;
}

ImageView view_images(const Cycle& cycle) {
  const std::size_t rows = cycle.cluster.table().rows();
  ImageView out;
  out.from = cycle.now;
  out.have.assign(rows, 0);
  choose_reporters(cycle, out);
  out.wanted = wanted_images(cycle);
  for (std::size_t at = 0; at < out.wanted.size(); ++at) {
    const Found found = look_up(cycle, out.wanted[at], out);
    if (at == 0)
      out.complete = found.holders;
    else
      out.complete.keep(found.holders);
    add_pieces(cycle, at, found, out);
  }
  for (const ImageView::Piece& piece : out.pieces) {
    out.need += piece.size;
    piece.rows.each([&](NodeIndex row) {
      if (row < rows) out.have[row] += piece.size;
    });
  }
  const ImageTable& table = cycle.cluster.images();
  for (InventorySource reporter : kReporters) {
    RowSet pulling = table.pulling(reporter);
    pulling.keep(out.told_by[place_of(reporter)]);
    pulling.each([&](NodeIndex row) { add_pulls(table, reporter, row, out); });
  }
  return out;
}

void view_row_again(const Cycle& cycle, NodeIndex row, ImageView& view) {
  const ImageTable& table = cycle.cluster.images();
  std::vector<std::uint8_t> held;
  for (const ImageKeys& keys : view.wanted)
    held.push_back(std::ranges::any_of(keys, [&](const std::string& key) {
      const auto* image = table.image(key);
      return image != nullptr && is_holder(*image, cycle, row, view);
    }));
  view.complete.set(row, !held.empty() && std::ranges::find(held, 0) == held.end());
  if (view.have.size() <= row) view.have.resize(row + 1u, 0);
  view.have[row] = 0;
  for (ImageView::Piece& piece : view.pieces) {
    bool there = std::ranges::any_of(piece.of, [&](std::size_t at) { return held[at] != 0; });
    for (std::size_t by = 0; by < kReporters.size() && piece.layer != nullptr; ++by)
      there = there || (view.told_by[by].has(row) && piece.layer->rows[by].has(row));
    piece.rows.set(row, there);
    if (there) view.have[row] += piece.size;
  }
  if (const auto reporter = view.reporter(row); reporter && table.pulling(*reporter).has(row))
    add_pulls(table, *reporter, row, view);
}

std::optional<InventorySource> ImageView::reporter(NodeIndex row) const {
  for (InventorySource by : kReporters)
    if (told_by[place_of(by)].has(row)) return by;
  return std::nullopt;
}

namespace {

// Counts the images that only bound pods account for.
void count_images_by_pods(const Cycle& cycle, const ImageView& view, NodeIndex row,
                          ImagesKnown& out) {
  if (row >= view.have.size() || view.have[row] == 0) return;
  const ImageTable& table = cycle.cluster.images();
  std::size_t reported = 0;
  for (const ImageKeys& keys : view.wanted) {
    bool told = false, held = false;
    for (const std::string& key : keys)
      if (const auto* image = table.image(key)) {
        told = told || is_reported(*image, row, view);
        held = held || (image->promised_rows.has(row) &&
                        (!view.fresh.has(row) || is_expected(*image, cycle, row, view)));
      }
    reported += told ? 1 : 0;
    out.by_pods += held && !told ? 1 : 0;
  }
  out.only_by_pods = out.by_pods > 0 && reported == 0;
}

}  // namespace

ImagesKnown images_known(const Cycle& cycle, const ImageView& view, NodeIndex row) {
  const ImageTable& table = cycle.cluster.images();
  ImagesKnown out;
  count_images_by_pods(cycle, view, row, out);
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
  if (alike != nullptr) return alike->image_view(*this);
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
    out.raw.reserve(rows.size());
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

}  // namespace plim::placement
