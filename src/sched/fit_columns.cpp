#include "sched/fit_columns.hpp"

#include <algorithm>
#include <cmath>

namespace plim::sched {
namespace {

bool is_ignored(const FitArgs& args, std::string_view name) {
  if (!is_extended_resource(name)) return false;
  std::string_view group = name.substr(0, name.find('/'));
  return std::ranges::find(args.ignored_resources, name) != args.ignored_resources.end() ||
         std::ranges::find(args.ignored_groups, group) != args.ignored_groups.end();
}

// One resource of a scoring strategy, its columns found once.
struct ScoredResource {
  const std::int64_t* allocatable = nullptr;
  const std::int64_t* requested = nullptr;
  std::int64_t wanted = 0, weight = 1;
};

enum class Requested : std::uint8_t { as_written, nonzero };

std::vector<ScoredResource> scored_resources(const NodeTable& table, const PodRequests& wanted,
                                             const std::vector<ResourceWeight>& resources,
                                             Requested which) {
  std::vector<ScoredResource> out;
  for (const ResourceWeight& one : resources) {
    ResourceId id = table.resources().find(one.name);
    if (id == kNoResource) continue;
    std::int64_t amount = wanted.of(id);
    if (id >= kFirstScalar && amount == 0) continue;
    ScoredResource made{table.allocatable(id), table.requested(id), amount, one.weight};
    if (which == Requested::nonzero && id == kCpu) made.requested = table.nonzero_cpu();
    if (which == Requested::nonzero && id == kMemory) made.requested = table.nonzero_memory();
    out.push_back(made);
  }
  return out;
}

// Weighted mean of how `one` judges each resource that the node has.
template <class One>
std::int64_t weighted_mean(const std::vector<ScoredResource>& resources, NodeIndex row, One one) {
  std::int64_t sum = 0, weights = 0;
  for (const ScoredResource& resource : resources) {
    std::int64_t whole = resource.allocatable[row];
    if (whole == 0) continue;
    sum += one(resource.requested[row] + resource.wanted, whole) * resource.weight;
    weights += resource.weight;
  }
  return weights == 0 ? 0 : sum / weights;
}

std::int64_t on_shape(const std::vector<ShapePoint>& shape, std::int64_t at) {
  constexpr std::int64_t kScale = 10;  // a shape's scores reach to 10, ours to 100
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (at > shape[i].utilization) continue;
    if (i == 0) return shape[0].score * kScale;
    const ShapePoint &from = shape[i - 1], &to = shape[i];
    return from.score * kScale + (to.score - from.score) * kScale * (at - from.utilization) /
                                     (to.utilization - from.utilization);
  }
  return shape.empty() ? 0 : shape.back().score * kScale;
}

std::int64_t by_shape(const std::vector<ScoredResource>& resources,
                      const std::vector<ShapePoint>& shape, NodeIndex row) {
  std::int64_t sum = 0, weights = 0;
  for (const ScoredResource& resource : resources) {
    std::int64_t whole = resource.allocatable[row];
    if (whole == 0) continue;
    std::int64_t used = resource.requested[row] + resource.wanted;
    std::int64_t one = on_shape(shape, used > whole ? 100 : used * 100 / whole);
    if (one <= 0) continue;
    sum += one * resource.weight;
    weights += resource.weight;
  }
  if (weights == 0) return 0;
  return std::llround(static_cast<double>(sum) / static_cast<double>(weights));
}

std::int64_t balance(const std::vector<ScoredResource>& resources, NodeIndex row,
                     std::vector<double>& fractions) {
  fractions.clear();
  double sum = 0;
  for (const ScoredResource& resource : resources) {
    std::int64_t whole = resource.allocatable[row];
    if (whole == 0) continue;
    std::int64_t used = resource.requested[row] + resource.wanted;
    double fraction = static_cast<double>(used) / static_cast<double>(whole);
    fractions.push_back(fraction > 1 ? 1 : fraction);
    sum += fractions.back();
  }
  double deviation = 0;
  const auto count = static_cast<double>(fractions.size());
  if (fractions.size() == 2) {
    deviation = std::abs((fractions[0] - fractions[1]) / 2);
  } else if (fractions.size() > 2) {
    double mean = sum / count, squares = 0;
    for (double fraction : fractions) squares += (fraction - mean) * (fraction - mean);
    deviation = std::sqrt(squares / count);
  }
  return static_cast<std::int64_t>((1 - deviation) * 100);
}

std::int64_t fit_score(const std::vector<ScoredResource>& resources, const FitArgs& args,
                       NodeIndex row) {
  switch (args.strategy) {
    case FitStrategy::LeastAllocated:
      return weighted_mean(resources, row, [](std::int64_t used, std::int64_t whole) {
        return used > whole ? 0 : (whole - used) * 100 / whole;
      });
    case FitStrategy::MostAllocated:
      return weighted_mean(resources, row, [](std::int64_t used, std::int64_t whole) {
        return std::min(used, whole) * 100 / whole;
      });
    case FitStrategy::RequestedToCapacityRatio:
      return by_shape(resources, args.shape, row);
  }
  return 0;
}

bool fits_there(const NodeTable& table,
                const std::vector<std::pair<ResourceId, std::int64_t>>& needed, NodeIndex row) {
  if (table.pods()[row] + 1 > table.pod_limit()[row]) return false;
  return std::ranges::all_of(needed, [&](const auto& one) {
    return one.second <= table.allocatable(one.first)[row] - table.requested(one.first)[row];
  });
}

}  // namespace

std::vector<std::pair<ResourceId, std::int64_t>> needed_resources(const PodRequests& requests,
                                                                  const FitArgs& args,
                                                                  const NodeTable& table) {
  std::vector<std::pair<ResourceId, std::int64_t>> out;
  for (ResourceId id = 0; id < kFirstScalar; ++id)
    if (requests.basic[id] > 0) out.emplace_back(id, requests.basic[id]);
  for (const auto& [id, amount] : requests.scalars)
    if (amount != 0 && !is_ignored(args, table.resources().name(id))) out.emplace_back(id, amount);
  return out;
}

bool FitCache::Entry::answers(const FitQuestion& question) const {
  return requests == question.requests && scored == question.scored &&
         fit.strategy == question.fit.strategy && fit.resources == question.fit.resources &&
         fit.shape == question.fit.shape &&
         fit.ignored_resources == question.fit.ignored_resources &&
         fit.ignored_groups == question.fit.ignored_groups &&
         balanced.resources == question.balanced.resources;
}

const FitColumns& FitCache::get(const FitQuestion& question, const NodeTable& table) {
  auto at =
      std::ranges::find_if(entries_, [&](const Entry& entry) { return entry.answers(question); });
  bool is_new = at == entries_.end();
  if (is_new) {
    if (entries_.size() >= most(table.rows())) entries_.pop_back();
    entries_.push_front({.requests = question.requests,
                         .scored = question.scored,
                         .fit = question.fit,
                         .balanced = question.balanced,
                         .columns = {}});
  } else {
    entries_.splice(entries_.begin(), entries_, at);
  }
  Entry& entry = entries_.front();
  FitColumns& columns = entry.columns;
  columns.fits.resize(table.rows(), 0);
  columns.score.resize(table.rows(), 0);
  columns.balance.resize(table.rows(), 0);

  auto needed = needed_resources(question.requests, question.fit, table);
  auto scored =
      scored_resources(table, question.scored, question.fit.resources, Requested::nonzero);
  auto balanced = scored_resources(table, question.requests, question.balanced.resources,
                                   Requested::as_written);
  std::vector<double> fractions;
  auto look_at = [&](NodeIndex row) {
    columns.fits[row] = fits_there(table, needed, row) ? 1 : 0;
    columns.score[row] = static_cast<std::int16_t>(fit_score(scored, question.fit, row));
    columns.balance[row] = static_cast<std::int16_t>(balance(balanced, row, fractions));
  };
  auto changed = is_new ? std::nullopt : table.changed_since(entry.seen);
  if (changed && changed->size() < table.rows())
    std::ranges::for_each(*changed, look_at);
  else
    std::ranges::for_each(table.live(), look_at);
  entry.seen = table.changes();
  return columns;
}

}  // namespace plim::sched
