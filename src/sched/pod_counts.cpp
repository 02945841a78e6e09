#include "sched/pod_counts.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace plim::sched {

bool PodMatcher::matches(const kube::Pod& pod) const {
  if (leave_out_terminating && pod.meta.deleted) return false;
  auto name = [](const std::string& text) { return std::string_view(text); };
  return std::ranges::all_of(clauses, [&](const Clause& clause) {
    return (clause.any_namespace ||
            std::ranges::binary_search(clause.namespaces, pod.meta.ns.view(), {}, name)) &&
           clause.selector.matches(pod.meta.labels);
  });
}

std::string PodMatcher::text() const {
  std::string out = leave_out_terminating ? "living" : "all";
  for (const Clause& clause : clauses) {
    bool nothing = clause.selector == kube::LabelSelector::nothing();
    fmt::format_to(
        std::back_inserter(out), "\n{}\n{}{}",
        clause.any_namespace ? "*" : fmt::format("{}", fmt::join(clause.namespaces, ",")),
        nothing ? "!" : "", clause.selector.to_string());
  }
  return out;
}

void PodCounts::Counter::count(const kube::Pod& pod, NodeIndex row, int sign) {
  if (!matcher.matches(pod)) return;
  if (by_row.size() <= row) by_row.resize(row + 1u, 0);
  by_row[row] += static_cast<std::uint32_t>(sign);
}

void PodCounts::count(const kube::Pod& pod, NodeIndex row, int sign) {
  for (auto& [text, counter] : counters_) counter.count(pod, row, sign);
}

void PodCounts::forget_oldest() {
  counters_.erase(
      std::ranges::min_element(counters_, {}, [](const auto& one) { return one.second.used; }));
}

void TermTable::count(const Affinity& affinity, NodeIndex row, int sign) {
  count_terms(affinity.near, Kind::near, row, sign);
  count_terms(affinity.apart, Kind::apart, row, sign);
  count_terms(affinity.prefer_near, Kind::prefer_near, row, sign);
  count_terms(affinity.prefer_apart, Kind::prefer_apart, row, sign);
}

void TermTable::count_terms(const std::vector<PodTerm>& terms, Kind kind, NodeIndex row, int sign) {
  for (const PodTerm& term : terms) {
    std::string text = fmt::format("{} {}\n{}", static_cast<int>(kind), term.weight, term.text);
    auto [at, is_new] = entries_.try_emplace(std::move(text));
    Entry& entry = at->second;
    if (is_new) {
      entry.term = term;
      entry.kind = kind;
    }
    std::uint32_t& here = entry.by_row[row];
    here += static_cast<std::uint32_t>(sign);
    if (here == 0) entry.by_row.erase(row);
    if (entry.by_row.empty()) entries_.erase(at);
  }
}

TopologyCounts::PerKey& TopologyCounts::of(LabelKey key) {
  auto at = std::ranges::find(keys_, key, &PerKey::key);
  if (at != keys_.end()) return *at;
  return keys_.emplace_back(PerKey{key, &table_.label_column(key),
                                   std::vector<std::int64_t>(table_.text_count() + 1, 0)});
}

bool TopologyCounts::add(LabelKey key, NodeIndex row, std::int64_t amount) {
  PerKey& counts = of(key);
  LabelValue value = (*counts.column)[row];
  if (value == 0) return false;
  std::int64_t& number = counts.by_value[value];
  if (number == 0) ++nonzero_;
  number += amount;
  if (number == 0) --nonzero_;
  return true;
}

std::int64_t TopologyCounts::at(LabelKey key, NodeIndex row) const {
  auto counts = std::ranges::find(keys_, key, &PerKey::key);
  return counts == keys_.end() ? 0 : counts->by_value[(*counts->column)[row]];
}

std::int64_t TopologyCounts::sum_at(NodeIndex row) const {
  std::int64_t out = 0;
  for (const PerKey& counts : keys_) out += counts.by_value[(*counts.column)[row]];
  return out;
}

bool TopologyCounts::any_positive_at(NodeIndex row) const {
  return std::ranges::any_of(
      keys_, [&](const PerKey& counts) { return counts.by_value[(*counts.column)[row]] > 0; });
}

}  // namespace plim::sched
