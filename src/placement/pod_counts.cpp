#include "placement/pod_counts.hpp"

#include <algorithm>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace plim::placement {
namespace {

constexpr std::string_view kAnyNamespace = "*";

// A key of the index. Names and labels cannot contain its separators.
void write_place(std::string& out, std::string_view ns, std::string_view key,
                 std::string_view value) {
  out.assign(ns);
  out += '\n';
  out += key;
  out += '\n';
  out += value;
}

// The values of a label, one of which a matching pod must have; nothing if it need not have the
// label.
std::span<const std::string> needed_values(const kube::LabelRequirement& requirement) {
  using Op = kube::LabelRequirement::Op;
  const bool needed = requirement.op == Op::equals || requirement.op == Op::in;
  return needed ? std::span<const std::string>(requirement.values) : std::span<const std::string>();
}

}  // namespace

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

void RowCounts::add(NodeIndex row, int sign) {
  auto at = std::ranges::lower_bound(entries_, row, {}, &Entry::row);
  if (at == entries_.end() || at->row != row) at = entries_.insert(at, {row, 0});
  at->pods += static_cast<std::uint32_t>(sign);
  if (at->pods == 0) entries_.erase(at);
}

void PodCounts::Counter::count(const kube::Pod& pod, NodeIndex row, int sign) {
  if (matcher.matches(pod)) by_row.add(row, sign);
}

void PodCounts::count(const kube::Pod& pod, NodeIndex row, int sign) {
  if (index_.empty()) return;
  std::string place;
  auto count_at = [&](std::string_view ns, std::string_view key, std::string_view value) {
    write_place(place, ns, key, value);
    if (auto found = index_.find(place); found != index_.end())
      for (Counter* counter : found->second) counter->count(pod, row, sign);
  };
  for (std::string_view ns : {pod.meta.ns.view(), kAnyNamespace}) {
    count_at(ns, "", "");
    for (const auto& [key, value] : pod.meta.labels) count_at(ns, key, value);
  }
}

PodCounts::Counter& PodCounts::make(std::string text, const PodMatcher& matcher) {
  if (counters_.size() >= kMost) forget_oldest();
  Counter& made = counters_[std::move(text)];
  made.matcher = matcher;
  made.places = places_for(matcher);
  made.used = ++clock_;
  for (const std::string& place : made.places) index_[place].push_back(&made);
  return made;
}

// Uses the label with the fewest other matchers. A pod has one value of it, so it finds the matcher
// once.
std::vector<std::string> PodCounts::places_for(const PodMatcher& matcher) const {
  std::optional<std::vector<std::string>> best;
  auto consider = [&](const PodMatcher::Clause& clause, std::string_view key,
                      std::span<const std::string> values) {
    std::vector<std::string> places;
    auto add = [&](std::string_view ns) {
      for (const std::string& value : values) write_place(places.emplace_back(), ns, key, value);
    };
    if (clause.any_namespace)
      add(kAnyNamespace);
    else
      for (const std::string& ns : clause.namespaces) add(ns);
    // A place that is there twice would count a pod twice.
    std::ranges::sort(places);
    const auto repeats = std::ranges::unique(places);
    places.erase(repeats.begin(), repeats.end());
    if (!best || crowd(places) < crowd(*best)) best = std::move(places);
  };
  for (const PodMatcher::Clause& clause : matcher.clauses)
    for (const kube::LabelRequirement& requirement : clause.selector.requirements())
      if (auto values = needed_values(requirement); !values.empty())
        consider(clause, requirement.key, values);
  static const PodMatcher::Clause anything{.namespaces = {}, .any_namespace = true, .selector = {}};
  const std::string none[] = {""};
  if (!best) consider(matcher.clauses.empty() ? anything : matcher.clauses.front(), "", none);
  return std::move(*best);
}

std::size_t PodCounts::crowd(const std::vector<std::string>& places) const {
  std::size_t out = 0;
  for (const std::string& place : places)
    if (auto found = index_.find(place); found != index_.end()) out += found->second.size();
  return out;
}

void PodCounts::forget_oldest() {
  auto oldest =
      std::ranges::min_element(counters_, {}, [](const auto& one) { return one.second.used; });
  for (const std::string& place : oldest->second.places) {
    auto found = index_.find(place);
    std::erase(found->second, &oldest->second);
    if (found->second.empty()) index_.erase(found);
  }
  counters_.erase(oldest);
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

std::size_t TopologyCounts::place_of(LabelKey key) {
  const auto at = std::ranges::find(keys_, key, &PerKey::key);
  const auto place = static_cast<std::size_t>(at - keys_.begin());
  if (at == keys_.end()) {
    const LabelColumn& column = table_.labels().column(key);
    keys_.push_back({key, &column, std::vector<std::int64_t>(column.size(), 0)});
  }
  return place;
}

bool TopologyCounts::add(LabelKey key, NodeIndex row, std::int64_t amount) {
  PerKey& counts = keys_[place_of(key)];
  const std::uint32_t value = counts.column->at(row);
  if (value == 0) return false;
  std::int64_t& number = counts.by_value[value];
  if (number == 0) ++nonzero_;
  number += amount;
  if (number == 0) --nonzero_;
  return true;
}

std::int64_t TopologyCounts::at(LabelKey key, NodeIndex row) const {
  auto counts = std::ranges::find(keys_, key, &PerKey::key);
  return counts == keys_.end() ? 0 : counts->by_value[counts->column->at(row)];
}

std::int64_t TopologyCounts::sum_at(NodeIndex row) const {
  std::int64_t out = 0;
  for (const PerKey& counts : keys_) out += counts.by_value[counts.column->at(row)];
  return out;
}

bool TopologyCounts::any_positive_at(NodeIndex row) const {
  return std::ranges::any_of(
      keys_, [&](const PerKey& counts) { return counts.by_value[counts.column->at(row)] > 0; });
}

}  // namespace plim::placement
