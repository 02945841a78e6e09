// InterPodAffinity: the affinity and anti-affinity of the pod, and of existing pods towards it.
#include <algorithm>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "placement/plugins.hpp"

namespace plim::placement {
namespace {

constexpr auto kInterPod = PluginId::InterPodAffinity;

// A term of the incoming pod. kube-scheduler looks up its namespaces by their labels. An empty
// selector matches every namespace. Versions before 1.37 then apply the selector again to an empty
// set of labels: a selector that absent labels satisfy matches every namespace.
PodMatcher::Clause clause_of(const PodTerm& term, const Cycle& cycle) {
  PodMatcher::Clause out{.namespaces = term.namespaces, .selector = term.selector};
  if (!term.namespace_selector) return out;
  const kube::LabelSelector& wanted = *term.namespace_selector;
  out.any_namespace = cycle.profile.release.reads_namespace_labels_only()
                          ? wanted == kube::LabelSelector::everything()
                          : wanted.matches(kube::Labels());
  for (const auto& [name, labels] : cycle.cluster.namespaces().all())
    if (wanted.matches(labels)) out.namespaces.push_back(name);
  std::ranges::sort(out.namespaces);
  // A term may name a namespace that its selector also matches.
  const auto repeats = std::ranges::unique(out.namespaces);
  out.namespaces.erase(repeats.begin(), repeats.end());
  return out;
}

PodMatcher matcher_of(const std::vector<PodTerm>& terms, const Cycle& cycle) {
  PodMatcher out;
  for (const PodTerm& term : terms) out.clauses.push_back(clause_of(term, cycle));
  return out;
}

// Adds `amount` for each pod that matches, at its node's value of the key.
bool add_matching(TopologyCounts& to, Cycle& cycle, const PodMatcher& matcher, LabelKey key,
                  std::int64_t amount) {
  const NodeTable& table = cycle.cluster.table();
  bool any = false;
  for (const auto& [row, pods] : cycle.cluster.pods().count_matching(matcher).entries())
    if (table.is_live(row)) any |= to.add(key, row, amount * pods);
  return any;
}

// The same for placed pods with a term that the incoming pod matches.
bool add_carried(TopologyCounts& to, Cycle& cycle, TermTable::Kind kind,
                 std::optional<std::int64_t> weight) {
  const kube::Labels& labels = cycle.cluster.namespaces().labels(cycle.in.pod.meta.ns);
  bool any = false;
  for (const auto& [text, entry] : cycle.cluster.pods().terms().entries()) {
    if (entry.kind != kind || !entry.term.matches(cycle.in.pod, labels)) continue;
    std::int64_t each = weight.value_or(entry.term.weight);
    if (kind == TermTable::Kind::prefer_apart) each = -each;
    for (const auto& [row, pods] : entry.by_row)
      if (cycle.cluster.table().is_live(row))
        any |= to.add(entry.term.topology_key, row, each * pods);
  }
  return any;
}

class InterPodFilter final : public FilterOf<InterPodFilter> {
 public:
  explicit InterPodFilter(Cycle& cycle)
      : cycle_(cycle),
        table_(cycle.cluster.table()),
        terms_(*cycle.in.affinity),
        near_matcher_(matcher_of(terms_.near, cycle)),
        existing_(cycle.cluster.table()),
        near_(cycle.cluster.table()),
        apart_(cycle.cluster.table()) {
    add_carried(existing_, cycle, TermTable::Kind::apart, 1);
    for (const PodTerm& term : terms_.near) {
      near_places_.push_back(near_.place_of(term.topology_key));
      add_matching(near_, cycle, near_matcher_, term.topology_key, 1);
    }
    for (const PodTerm& term : terms_.apart) {
      apart_places_.push_back(apart_.place_of(term.topology_key));
      apart_matchers_.push_back({.clauses = {clause_of(term, cycle)}});
      add_matching(apart_, cycle, apart_matchers_.back(), term.topology_key, 1);
    }
    matches_itself_ = !terms_.near.empty() && near_matcher_.matches(cycle.in.pod);
    auto refused = [&](RejectCode code, std::string_view reason) {
      return cycle.verdicts.id_of(kInterPod, code, reason);
    };
    too_far_ = refused(RejectCode::unresolvable, "node(s) didn't match pod affinity rules");
    too_near_ = refused(RejectCode::unschedulable, "node(s) didn't match pod anti-affinity rules");
    unwanted_ = refused(RejectCode::unschedulable,
                        "node(s) didn't satisfy existing pods anti-affinity rules");
  }

  bool has_nothing_to_say() const {
    return existing_.empty() && terms_.near.empty() && terms_.apart.empty();
  }

  Verdict judge(NodeIndex row) const {
    if (!terms_.near.empty() && !near_enough(row)) return too_far_;
    if (!apart_.empty())
      for (std::size_t place : apart_places_)
        if (apart_.at_place(place, row) > 0) return too_near_;
    if (!existing_.empty() && existing_.any_positive_at(row)) return unwanted_;
    return kFits;
  }

  // "app=web: 0 pods in zone=a, must be near one", for the kind of terms that rejects the node.
  std::string describe(NodeIndex row) const override {
    if (!terms_.near.empty() && !near_enough(row)) return describe_near(row);
    std::vector<std::string> out;
    for (const PodTerm& term : terms_.apart)
      if (const std::int64_t pods = apart_.at(term.topology_key, row); pods > 0)
        out.push_back(fmt::format("{}: {} pods in {}, must be apart from all",
                                  term.selector.to_string(), pods, place(term.topology_key, row)));
    if (out.empty()) out = describe_existing(row);
    return fmt::format("{}", fmt::join(out, "; "));
  }

  void pod_moved(const PodRecord& record, NodeIndex row, int sign) override {
    const kube::Labels& labels = cycle_.cluster.namespaces().labels(cycle_.in.pod.meta.ns);
    for (const PodTerm& term : record.affinity->apart)
      if (term.matches(cycle_.in.pod, labels)) existing_.add(term.topology_key, row, sign);
    if (!terms_.near.empty() && near_matcher_.matches(*record.pod))
      for (const PodTerm& term : terms_.near) near_.add(term.topology_key, row, sign);
    for (std::size_t i = 0; i < terms_.apart.size(); ++i)
      if (apart_matchers_[i].matches(*record.pod))
        apart_.add(terms_.apart[i].topology_key, row, sign);
  }

 private:
  // "zone=a", or "no zone" if the node does not have the label.
  std::string place(LabelKey key, NodeIndex row) const {
    const LabelValue value = table_.labels().value(row, key);
    return value == 0
               ? fmt::format("no {}", table_.labels().text(key + 1))
               : fmt::format("{}={}", table_.labels().text(key + 1), table_.labels().text(value));
  }

  std::string describe_near(NodeIndex row) const {
    std::vector<std::string> out;
    for (const PodTerm& term : terms_.near)
      if (near_.at(term.topology_key, row) == 0)
        out.push_back(fmt::format("{}: 0 pods in {}, must be near one", term.selector.to_string(),
                                  place(term.topology_key, row)));
    return fmt::format("{}", fmt::join(out, "; "));
  }

  std::vector<std::string> describe_existing(NodeIndex row) const {
    const kube::Labels& labels = cycle_.cluster.namespaces().labels(cycle_.in.pod.meta.ns);
    std::map<LabelKey, std::vector<std::string>> terms;  // by key; any of them may be the reason
    for (const auto& [text, entry] : cycle_.cluster.pods().terms().entries())
      if (entry.kind == TermTable::Kind::apart && entry.term.matches(cycle_.in.pod, labels) &&
          existing_.at(entry.term.topology_key, row) > 0)
        terms[entry.term.topology_key].push_back(entry.term.selector.to_string());
    std::vector<std::string> out;
    for (const auto& [key, selectors] : terms)
      out.push_back(fmt::format("{} pods in {} keep away from {}", existing_.at(key, row),
                                place(key, row), fmt::join(selectors, " or ")));
    return out;
  }

  bool near_enough(NodeIndex row) const {
    bool all_there = true;
    for (std::size_t place : near_places_) {
      if (!near_.has_value(place, row)) return false;
      all_there = all_there && near_.at_place(place, row) > 0;
    }
    // The first pod of a group with affinity to itself has no pod to be near to.
    return all_there || (near_.empty() && matches_itself_);
  }

  Cycle& cycle_;
  const NodeTable& table_;
  const Affinity& terms_;
  PodMatcher near_matcher_;
  std::vector<PodMatcher> apart_matchers_;
  TopologyCounts existing_, near_, apart_;
  std::vector<std::size_t> near_places_, apart_places_;  // the index of each term's key
  bool matches_itself_ = false;
  Verdict too_far_ = kFits, too_near_ = kFits, unwanted_ = kFits;
};

}  // namespace

std::unique_ptr<Filter> make_inter_pod_filter(Cycle& cycle) {
  if (!cycle.in.affinity->mistake.empty()) {
    cycle.failure = {kInterPod, RejectCode::unresolvable,
                     fmt::format("parsing pod: {}", cycle.in.affinity->mistake)};
    return nullptr;
  }
  auto made = std::make_unique<InterPodFilter>(cycle);
  if (made->has_nothing_to_say()) return nullptr;
  return made;
}

bool score_inter_pod(Cycle& cycle, std::span<const NodeIndex> rows, ScoreColumn& out) {
  using Kind = TermTable::Kind;
  const Affinity& own = *cycle.in.affinity;
  const InterPodArgs& args = cycle.profile.inter_pod;
  bool has_preferences = !own.prefer_near.empty() || !own.prefer_apart.empty();
  if (args.ignore_preferred_of_existing && !has_preferences) return false;

  TopologyCounts sums(cycle.cluster.table());
  bool any = false;
  auto add_own = [&](const std::vector<PodTerm>& terms, int sign) {
    for (const PodTerm& term : terms)
      any |= add_matching(sums, cycle, {.clauses = {clause_of(term, cycle)}}, term.topology_key,
                          sign * term.weight);
  };
  add_own(own.prefer_near, 1);
  add_own(own.prefer_apart, -1);
  if (args.hard_weight > 0) any |= add_carried(sums, cycle, Kind::near, args.hard_weight);
  any |= add_carried(sums, cycle, Kind::prefer_near, std::nullopt);
  any |= add_carried(sums, cycle, Kind::prefer_apart, std::nullopt);
  if (!any) return false;

  out.raw.reserve(rows.size());
  for (NodeIndex row : rows) out.raw.push_back(sums.sum_at(row));
  auto [low, high] = std::ranges::minmax(out.raw);
  for (std::int64_t raw : out.raw) {
    double share =
        high == low ? 0 : static_cast<double>(raw - low) / static_cast<double>(high - low);
    out.normalized.push_back(static_cast<std::int64_t>(100.0 * share));
  }
  return true;
}

}  // namespace plim::placement
