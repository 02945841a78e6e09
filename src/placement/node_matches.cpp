#include "placement/node_matches.hpp"

#include <algorithm>

namespace plim::placement {
namespace {

NodeMatches match_nodes(const Affinity& affinity, const NodeTerm& selector, NodeTable& table) {
  NodeMatches out;
  out.required = selector.matching_rows(table);
  out.required.keep(affinity.nodes.required_rows(table));
  if (affinity.nodes.has_preferred) out.preferred.assign(table.rows(), 0);
  for (const NodeTerm& term : affinity.nodes.preferred)
    term.matching_rows(table).each([&](NodeIndex row) { out.preferred[row] += term.weight; });
  return out;
}

}  // namespace

const NodeMatches& NodeMatchCache::get(const std::shared_ptr<const Affinity>& affinity,
                                       const std::shared_ptr<const NodeTerm>& selector,
                                       NodeTable& table) {
  auto at = std::ranges::find_if(entries_, [&](const Entry& entry) {
    return entry.affinity == affinity && entry.selector == selector;
  });
  if (at == entries_.end()) {
    if (entries_.size() >= kMost) entries_.pop_back();
    entries_.push_front({.affinity = affinity, .selector = selector, .matches = {}});
  } else {
    entries_.splice(entries_.begin(), entries_, at);
  }
  Entry& entry = entries_.front();
  if (entry.version != table.labels().version()) {
    entry.matches = match_nodes(*affinity, *selector, table);
    entry.version = table.labels().version();
  }
  return entry.matches;
}

}  // namespace plim::placement
