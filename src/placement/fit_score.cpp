// The scores of NodeResourcesFit and NodeResourcesBalancedAllocation: how full a node would be, and
// how evenly.
#include <algorithm>
#include <cmath>

#include "placement/plugins.hpp"
#include "placement/shape.hpp"

namespace plim::placement {
namespace {

// One resource of a scoring strategy with its columns.
struct ScoredResource {
  const std::int64_t* allocatable = nullptr;
  const std::int64_t* requested = nullptr;
  std::int64_t wanted = 0, weight = 1;
};

enum class Requested : std::uint8_t { as_written, nonzero };

std::vector<ScoredResource> scored_resources(const NodeTable& table, const PodRequests& wanted,
                                             const std::vector<ResourceWeight>& resources,
                                             Requested which) {
  const NodeResources& columns = table.resources();
  std::vector<ScoredResource> out;
  for (const ResourceWeight& one : resources) {
    ResourceId id = columns.names().find(one.name);
    if (id == kNoResource) continue;
    std::int64_t amount = wanted.of(id);
    if (id >= kFirstScalar && amount == 0) continue;
    ScoredResource made{columns.allocatable(id), columns.requested(id), amount, one.weight};
    if (which == Requested::nonzero && id == kCpu) made.requested = columns.nonzero_cpu();
    if (which == Requested::nonzero && id == kMemory) made.requested = columns.nonzero_memory();
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

std::int64_t by_shape(const std::vector<ScoredResource>& resources,
                      const std::vector<ShapePoint>& shape, NodeIndex row) {
  std::int64_t sum = 0, weights = 0;
  for (const ScoredResource& resource : resources) {
    std::int64_t whole = resource.allocatable[row];
    if (whole == 0) continue;
    std::int64_t used = resource.requested[row] + resource.wanted;
    std::int64_t one = score_on_shape(shape, used > whole ? 100 : used * 100 / whole);
    if (one <= 0) continue;
    sum += one * resource.weight;
    weights += resource.weight;
  }
  if (weights == 0) return 0;
  return std::llround(static_cast<double>(sum) / static_cast<double>(weights));
}

enum class Pod : std::uint8_t { counted, not_counted };

std::int64_t balance(const std::vector<ScoredResource>& resources, NodeIndex row, Pod pod,
                     std::vector<double>& fractions) {
  fractions.clear();
  double sum = 0;
  for (const ScoredResource& resource : resources) {
    std::int64_t whole = resource.allocatable[row];
    if (whole == 0) continue;
    std::int64_t used = resource.requested[row] + (pod == Pod::counted ? resource.wanted : 0);
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

}  // namespace

bool score_fit(Cycle& cycle, std::span<const NodeIndex> rows, ScoreColumn& out) {
  const FitArgs& args = cycle.profile.fit;
  const auto resources =
      scored_resources(cycle.cluster.table(), cycle.in.scored, args.resources, Requested::nonzero);
  out.raw.reserve(rows.size());
  auto each = [&](auto points) {
    for (NodeIndex row : rows) out.raw.push_back(points(row));
  };
  switch (args.strategy) {
    case FitStrategy::LeastAllocated:
      each([&](NodeIndex row) {
        return weighted_mean(resources, row, [](std::int64_t used, std::int64_t whole) {
          return used > whole ? 0 : (whole - used) * 100 / whole;
        });
      });
      break;
    case FitStrategy::MostAllocated:
      each([&](NodeIndex row) {
        return weighted_mean(resources, row, [](std::int64_t used, std::int64_t whole) {
          return std::min(used, whole) * 100 / whole;
        });
      });
      break;
    case FitStrategy::RequestedToCapacityRatio:
      each([&](NodeIndex row) { return by_shape(resources, args.shape, row); });
      break;
  }
  out.normalized = out.raw;
  return true;
}

bool score_balanced(Cycle& cycle, std::span<const NodeIndex> rows, ScoreColumn& out) {
  // Scores of a pod that requests none of these resources would say nothing about the node's
  // balance.
  const NodeTable& table = cycle.cluster.table();
  const std::vector<ResourceWeight>& judged = cycle.profile.balanced.resources;
  auto asked = [&](const ResourceWeight& one) {
    ResourceId id = table.resources().names().find(one.name);
    return id != kNoResource && cycle.in.requests.of(id) != 0;
  };
  if (std::ranges::none_of(judged, asked)) return false;
  const auto resources = scored_resources(table, cycle.in.requests, judged, Requested::as_written);
  std::vector<double> fractions;
  out.raw.reserve(rows.size());
  const bool by_change = cycle.profile.release.scores_change_of_balance();
  for (NodeIndex row : rows) {
    const std::int64_t after = balance(resources, row, Pod::counted, fractions);
    // Both balances are within 50 and 100, and so is the score; 75 means no change.
    out.raw.push_back(
        by_change ? 50 + (50 + after - balance(resources, row, Pod::not_counted, fractions)) / 2
                  : after);
  }
  out.normalized = out.raw;
  return true;
}

}  // namespace plim::placement
