#include "placement/node_class.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "placement/decision_times.hpp"
#include "placement/plugin_table.hpp"

namespace plim::placement {
namespace {

// Builds a text of parts that cannot be confused with each other.
class ShapeText {
 public:
  void add(std::int64_t number) {
    text_.append(reinterpret_cast<const char*>(&number), sizeof number);
  }

  void add(std::string_view part) {
    add(static_cast<std::int64_t>(part.size()));
    text_ += part;
  }

  void add(const PodRequests& requests) {
    for (std::int64_t amount : requests.basic) add(amount);
    add(requests.nonzero_cpu);
    add(requests.nonzero_memory);
    add(static_cast<std::int64_t>(requests.scalars.size()));
    for (const auto& [id, amount] : requests.scalars) {
      add(std::int64_t{id});
      add(amount);
    }
  }

  std::string take() { return std::move(text_); }

 private:
  std::string text_;
};

// Everything of the pod that filters and scores by row read, and the keys of its images.
std::string shape_of(const Incoming& in, std::size_t profile, const ClusterTables& cluster) {
  const kube::PodSpec& spec = in.pod.spec;
  ShapeText out;
  out.add(static_cast<std::int64_t>(profile));
  out.add(in.requests);
  out.add(in.scored);
  out.add(static_cast<std::int64_t>(in.ports.size()));
  for (const kube::HostPort& port : in.ports) {
    out.add(std::int64_t{port.port});
    out.add(port.protocol);
    out.add(port.address);
  }
  for (std::string_view text : {spec.node_name.view(), spec.tolerations.view(),
                                spec.node_selector.view(), spec.affinity.view()})
    out.add(text);
  out.add(std::int64_t{spec.restarts_all_containers} + 2 * std::int64_t{spec.bind_mount_options} +
          4 * std::int64_t{spec.host_network && !spec.host_users});
  auto add_image = [&](std::string_view image) {
    out.add(image);
    const ImageKeys& known = cluster.image_history().find(in.pod, image);
    out.add(static_cast<std::int64_t>(known.size()));
    for (const std::string& key : known) out.add(key);
  };
  out.add(static_cast<std::int64_t>(spec.init_containers.size()));
  for (const kube::Container& one : spec.init_containers) add_image(one.image);
  out.add(static_cast<std::int64_t>(spec.containers.size()));
  for (const kube::Container& one : spec.containers) add_image(one.image);
  for (const kube::PodVolume& one : spec.volumes)
    if (!one.image.empty()) add_image(one.image);
  return out.take();
}

// Rejects all nodes that the plugin has not named.
void refuse_unnamed(Cycle& cycle, std::vector<NodeIndex>& rows, std::vector<Verdict>& verdicts) {
  const Verdict refused = cycle.verdicts.id_of(
      PluginId::NodeAffinity, RejectCode::unresolvable,
      fmt::format("node(s) didn't satisfy plugin(s) [{}]", name_of(PluginId::NodeAffinity)));
  std::erase_if(rows, [&](NodeIndex row) {
    const bool named = cycle.is_named(row);
    if (!named) verdicts[row] = refused;
    return !named;
  });
}

void add_score(std::int64_t score, std::int64_t weight, std::int64_t& to) {
  if (to != NodeClass::kOdd) to = score < 0 || score > 100 ? NodeClass::kOdd : to + score * weight;
}

// Adds the scores of the plugins that read this.
void add_scores(Cycle& cycle, Reads reads, std::span<const NodeIndex> rows,
                std::vector<std::int64_t>& to) {
  for (const WeightedPlugin& plugin : cycle.profile.score) {
    const Plugin& row = plugin_row(plugin.plugin);
    if (row.score == nullptr || row.score_reads != reads) continue;
    ScoreColumn column{.plugin = plugin.plugin, .raw = {}, .normalized = {}};
    if (!row.score(cycle, rows, column)) continue;
    for (std::size_t i = 0; i < rows.size(); ++i)
      add_score(column.normalized[i], plugin.weight, to[rows[i]]);
  }
}

}  // namespace

std::optional<std::vector<NodeIndex>> NodeClass::Seen::catch_up(const NodeTable& table) {
  const bool same_nodes =
      std::exchange(labels, table.labels().version()) == table.labels().version();
  const auto changed = table.changes().since(std::exchange(changes, table.changes().count()));
  // Updating single rows costs more per row than computing all of them.
  if (!same_nodes || !changed || changed->size() > table.rows() / 4 + 8) return std::nullopt;
  std::vector<NodeIndex> out(changed->begin(), changed->end());
  std::ranges::sort(out);
  const auto repeats = std::ranges::unique(out);
  out.erase(repeats.begin(), repeats.end());
  std::erase_if(out, [&](NodeIndex row) { return !table.is_live(row); });
  return out;
}

void NodeClass::sieve(Cycle& cycle, std::span<FilterStep> filters) {
  const NodeTable& table = cycle.cluster.table();
  const auto again = sieved_.catch_up(table);
  if (again)
    verdict_.resize(table.rows(), kFits);
  else
    verdict_.assign(table.rows(), kFits);
  std::vector<NodeIndex> rows = again ? *again : table.live();
  std::vector<std::uint8_t> fitted;
  if (again)
    for (NodeIndex row : rows) fitted.push_back(std::exchange(verdict_[row], kFits) == kFits);
  if (cycle.only_nodes) refuse_unnamed(cycle, rows, verdict_);
  for (FilterStep& step : filters) {
    const DecisionTimes::PluginWatch one(cycle.times, DecisionTimes::Step::filter, step.plugin);
    step.filter->sieve(rows, verdict_);
  }
  if (!again) {
    fitting_ = std::move(rows);
    return;
  }
  for (std::size_t i = 0; i < again->size(); ++i) {
    const NodeIndex row = (*again)[i];
    const bool fits = verdict_[row] == kFits;
    if (fits == (fitted[i] != 0)) continue;
    const auto at = std::ranges::lower_bound(fitting_, row);
    if (fits)
      fitting_.insert(at, row);
    else
      fitting_.erase(at);
  }
}

const ImageView& NodeClass::image_view(const Cycle& cycle) {
  const std::uint64_t version = cycle.cluster.images().version();
  const auto again = viewed_.catch_up(cycle.cluster.table());
  if (again && image_version_ == version && view_.from <= cycle.now && cycle.now <= view_.until) {
    for (NodeIndex row : *again) view_row_again(cycle, row, view_);
    return view_;
  }
  view_ = view_images(cycle);
  image_version_ = version;
  ++views_;
  return view_;
}

const std::vector<std::int64_t>& NodeClass::totals(Cycle& cycle) {
  image_view(cycle);
  const NodeTable& table = cycle.cluster.table();
  auto again = added_.catch_up(table);
  const bool same_view = std::exchange(scored_view_, views_) == views_;
  base_.resize(table.rows(), 0);
  totals_.resize(table.rows(), 0);
  if (again) std::erase_if(*again, [&](NodeIndex row) { return verdict_[row] != kFits; });
  add_up(cycle, again ? *again : fitting_);
  add_images(cycle, again && same_view ? *again : fitting_);
  return totals_;
}

void NodeClass::add_up(Cycle& cycle, std::span<const NodeIndex> rows) {
  for (NodeIndex row : rows) base_[row] = 0;
  add_scores(cycle, Reads::row, rows, base_);
}

void NodeClass::add_images(Cycle& cycle, std::span<const NodeIndex> rows) {
  for (NodeIndex row : rows) totals_[row] = base_[row];
  add_scores(cycle, Reads::row_and_images, rows, totals_);
}

std::size_t NodeClasses::most(std::size_t rows) {
  constexpr std::size_t kBytes = 16 << 20, kBytesOfRow = 32;
  return std::clamp<std::size_t>(kBytes / (kBytesOfRow * (rows + 1)), 16, 512);
}

std::size_t NodeClasses::number_of(const Profile& profile) {
  constexpr std::size_t kMost = 32;
  const auto at = std::ranges::find(profiles_, profile);
  if (at != profiles_.end()) return static_cast<std::size_t>(at - profiles_.begin());
  if (profiles_.size() >= kMost) clear();
  profiles_.push_back(profile);
  return profiles_.size() - 1;
}

NodeClass& NodeClasses::of(const Incoming& in, const Profile& profile,
                           const ClusterTables& cluster) {
  constexpr std::size_t kMostReasons = 256;  // extenders may give a new reason each time
  std::string shape = shape_of(in, number_of(profile), cluster);
  auto at = classes_.find(shape);
  if (at != classes_.end() && at->second.kept.verdicts.size() > kMostReasons) {
    classes_.erase(at);
    at = classes_.end();
  }
  if (at == classes_.end()) {
    if (classes_.size() >= most(cluster.table().rows()))
      classes_.erase(
          std::ranges::min_element(classes_, {}, [](const auto& one) { return one.second.used; }));
    at = classes_.try_emplace(std::move(shape)).first;
  }
  at->second.used = ++clock_;
  return at->second.kept;
}

void NodeClasses::clear() {
  classes_.clear();
  profiles_.clear();
}

}  // namespace plim::placement
