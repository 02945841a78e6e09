// PodTopologySpread: spreads matching pods over zones, hosts or the values of any other label.
#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "placement/plugins.hpp"

namespace plim::placement {
namespace {

constexpr std::string_view kHostname = "kubernetes.io/hostname";
constexpr std::string_view kZone = "topology.kubernetes.io/zone";
constexpr std::int64_t kNoDomain = std::numeric_limits<std::int64_t>::min();

// A constraint with its selector and its columns.
struct ActiveSpread {
  const SpreadConstraint* rule = nullptr;
  kube::LabelSelector selector;
  const LabelColumn* column = nullptr;
  std::uint32_t empty = 0;          // the number of the empty value
  const RowCounts* pods = nullptr;  // matching pods
};

class SpreadRules {
 public:
  enum class Which : std::uint8_t { hard, soft };

  SpreadRules(Cycle& cycle, Which which)
      : cycle_(cycle),
        chooses_nodes_(cycle.in.affinity->nodes.has_required ||
                       !cycle.in.node_selector->labels.empty()) {
    const Spread& own = *cycle.in.spread;
    mistake = own.mistake;
    if (!own.constraints.empty()) {
      for (const SpreadConstraint& rule : own.constraints)
        if (rule.hard == (which == Which::hard)) activate(rule, with_label_keys(rule));
    } else {
      use_defaults(which);
    }
    NodeTable& table = cycle.cluster.table();
    if (std::ranges::any_of(active, [](const auto& one) { return one.rule->honor_taints; }))
      untolerated_ = untolerated_rows();
    for (ActiveSpread& one : active) {
      one.column = &table.labels().column(one.rule->key);
      one.empty = one.column->find(table.labels().find_value(""));
    }
  }

  bool has_all_keys(NodeIndex row) const {
    return std::ranges::all_of(active, [&](const auto& one) { return one.column->at(row) != 0; });
  }

  bool all_have_all_keys() const {
    const std::size_t nodes = cycle_.cluster.table().live().size();
    return std::ranges::all_of(active,
                               [&](const auto& one) { return one.column->nodes() == nodes; });
  }

  // Whether every live node counts for every constraint.
  bool includes_all() const {
    return all_have_all_keys() && std::ranges::none_of(active, [&](const ActiveSpread& one) {
             return (one.rule->honor_affinity && chooses_nodes_) || one.rule->honor_taints;
           });
  }

  // The constraint's inclusion policies.
  bool includes(const ActiveSpread& one, NodeIndex row) {
    if (one.rule->honor_affinity && chooses_nodes_ && !cycle_.node_matches().required.has(row))
      return false;
    return !one.rule->honor_taints || !untolerated_[row];
  }

  std::vector<ActiveSpread> active;
  std::string mistake;

 private:
  void activate(const SpreadConstraint& rule, kube::LabelSelector selector) {
    ActiveSpread made{.rule = &rule, .selector = std::move(selector)};
    bool everything = made.selector == kube::LabelSelector::everything();
    PodMatcher matcher{
        .clauses = {{.namespaces = {std::string(cycle_.in.pod.meta.ns.view())},
                     .selector = everything ? kube::LabelSelector::nothing() : made.selector}},
        .leave_out_terminating = true};
    made.pods = &cycle_.cluster.pods().count_matching(matcher);  // an empty selector matches none
    active.push_back(std::move(made));
  }

  void use_defaults(Which which) {
    NodeTable& table = cycle_.cluster.table();
    const SpreadArgs& args = cycle_.profile.spread;
    std::vector<SpreadDefault> defaults = args.defaults;
    if (args.system_defaults) defaults = {{3, std::string(kHostname)}, {5, std::string(kZone)}};
    std::erase_if(defaults, [&](const auto& one) { return one.hard != (which == Which::hard); });
    if (defaults.empty()) return;
    kube::LabelSelector selector = cycle_.cluster.namespaces().owners_of(cycle_.in.pod);
    if (selector == kube::LabelSelector::nothing()) return;
    defaults_.reserve(defaults.size());
    for (const SpreadDefault& one : defaults) {
      SpreadConstraint& rule = defaults_.emplace_back();
      rule.max_skew = one.max_skew;
      rule.key = table.labels().key_id(one.topology_key);
      rule.hard = one.hard;
      rule.min_domains = one.min_domains;
      rule.honor_affinity = one.honor_affinity;
      rule.honor_taints = one.honor_taints;
      activate(rule, selector);
    }
  }

  kube::LabelSelector with_label_keys(const SpreadConstraint& rule) const {
    if (rule.match_label_keys.empty() || rule.selector == kube::LabelSelector::nothing())
      return rule.selector;
    std::string text = rule.selector.to_string();
    for (const std::string& key : rule.match_label_keys)
      if (auto value = kube::find_label(cycle_.in.pod.meta.labels, key))
        text += fmt::format("{}{}={}", text.empty() ? "" : ",", key, *value);
    auto made = kube::LabelSelector::parse(text);
    return made ? std::move(*made) : rule.selector;
  }

  std::vector<std::uint8_t> untolerated_rows() const {
    const NodeTable& table = cycle_.cluster.table();
    std::vector<std::uint8_t> by_set;
    for (const auto& taints : table.taints().sets())
      by_set.push_back(std::ranges::any_of(taints, [&](const kube::Taint& taint) {
        return (taint.effect == "NoSchedule" || taint.effect == "NoExecute") &&
               !tolerated(*cycle_.in.tolerations, taint);
      }));
    std::vector<std::uint8_t> out(table.rows(), 0);
    for (NodeIndex row : table.live()) out[row] = by_set[table.taints().set_of(row)];
    return out;
  }

  Cycle& cycle_;
  bool chooses_nodes_;
  std::vector<SpreadConstraint> defaults_;
  std::vector<std::uint8_t> untolerated_;
};

// Matching pods of one constraint by topology value.
struct Domains {
  std::vector<std::int64_t> by_value;  // kNoDomain where no eligible node has it
  std::size_t count = 0;
  std::uint32_t lowest = 0;  // a value with the fewest pods
  std::int64_t fewest = 0, fewest_of_others = std::numeric_limits<std::int64_t>::max();
  std::uint32_t changed = 0;  // the value whose count differs while a pod is imagined

  void add(std::uint32_t value, std::int64_t pods) {
    if (by_value[value] == kNoDomain) {
      by_value[value] = 0;
      ++count;
    }
    by_value[value] += pods;
  }

  // Every value that a node has.
  void add_all(const LabelColumn& column) {
    for (std::uint32_t value = 1; value < column.size(); ++value)
      if (column.value(value) != 0) add(value, 0);
  }

  void settle() {
    fewest = std::numeric_limits<std::int64_t>::max();
    for (std::uint32_t value = 0; value < by_value.size(); ++value) {
      std::int64_t pods = by_value[value];
      if (pods == kNoDomain) continue;
      if (pods < fewest) {
        fewest_of_others = fewest;
        fewest = pods;
        lowest = value;
      } else {
        fewest_of_others = std::min(fewest_of_others, pods);
      }
    }
  }

  // Only one row, and so one value, differs at a time.
  std::int64_t minimum(std::int64_t min_domains) const {
    if (static_cast<std::int64_t>(count) < min_domains) return 0;
    if (changed == 0) return fewest;
    return std::min(by_value[changed], changed == lowest ? fewest_of_others : fewest);
  }
};

// What one constraint adds to the scores of nodes. For hostname it counts the pods of each node.
struct SpreadPoints {
  explicit SpreadPoints(const ActiveSpread& one)
      : column(*one.column),
        on_host(*one.pods),
        extra(static_cast<double>(one.rule->max_skew - 1)) {}

  double of(std::int64_t pods) const { return static_cast<double>(pods) * weight + extra; }

  // Call it with ascending rows. 0 for a node without the label.
  double at(NodeIndex row) {
    const std::uint32_t value = column.at(row);
    if (value == 0) return 0;
    return by_value.empty() ? of(on_host.at(row)) : by_value[value];
  }

  const LabelColumn& column;
  RowCountReader on_host;
  double extra = 0, weight = 0;
  std::vector<double> by_value;  // empty for hostname
};

double weight_of(std::size_t domains) {
  return std::log(static_cast<double>(domains + 2));
}

// Like llround(), but inline: it runs for every node.
std::int64_t rounded(double number) {
  if (!(number >= 0 && number < 1e15)) return std::llround(number);
  const auto whole = static_cast<std::int64_t>(number);
  return number - static_cast<double>(whole) >= 0.5 ? whole + 1 : whole;
}

class SpreadFilter final : public FilterOf<SpreadFilter> {
 public:
  explicit SpreadFilter(Cycle& cycle, SpreadRules rules)
      : cycle_(cycle),
        rules_(std::move(rules)),
        missing_(cycle.verdicts.id_of(
            PluginId::PodTopologySpread, RejectCode::unresolvable,
            "node(s) didn't match pod topology spread constraints (missing required label)")),
        skewed_(cycle.verdicts.id_of(PluginId::PodTopologySpread, RejectCode::unschedulable,
                                     "node(s) didn't match pod topology spread constraints")) {
    const NodeTable& table = cycle.cluster.table();
    for (const ActiveSpread& one : rules_.active) {
      Domains& domains = domains_.emplace_back();
      domains.by_value.assign(one.column->size(), kNoDomain);
      self_.push_back(one.selector.matches(cycle.in.pod.meta.labels) ? 1 : 0);
    }
    const bool all = rules_.includes_all();
    auto eligible = [&](const ActiveSpread& one, NodeIndex row) {
      return all || (rules_.has_all_keys(row) && rules_.includes(one, row));
    };
    for (std::size_t i = 0; i < domains_.size(); ++i) {
      const ActiveSpread& one = rules_.active[i];
      if (all) {
        domains_[i].add_all(*one.column);
      } else {
        for (NodeIndex row : table.live())
          if (eligible(one, row)) domains_[i].add(one.column->at(row), 0);
      }
      for (const auto& [row, pods] : one.pods->entries())
        if (table.is_live(row) && eligible(one, row)) domains_[i].add(one.column->at(row), pods);
    }
    for (Domains& domains : domains_) domains.settle();
  }

  // Nodes share few values, so each value is judged once.
  void sieve(std::vector<NodeIndex>& rows, std::vector<Verdict>& verdicts) override {
    std::vector<Verdict> known;
    for (std::size_t i = 0; i < domains_.size(); ++i) {
      const LabelColumn& column = *rules_.active[i].column;
      known.resize(column.size());
      for (std::uint32_t value = 0; value < known.size(); ++value)
        known[value] = judge_value(i, value);
      std::erase_if(rows, [&](NodeIndex row) {
        const Verdict verdict = known[column.at(row)];
        if (verdict != kFits) verdicts[row] = verdict;
        return verdict != kFits;
      });
    }
  }

  Verdict judge(NodeIndex row) const {
    for (std::size_t i = 0; i < domains_.size(); ++i)
      if (Verdict verdict = judge_value(i, rules_.active[i].column->at(row)); verdict != kFits)
        return verdict;
    return kFits;
  }

  // "zone=a: 3 pods and this one, fewest 1: skew 3, at most 1".
  std::string describe(NodeIndex row) const override {
    const NodeTable& table = cycle_.cluster.table();
    std::vector<std::string> out;
    for (std::size_t i = 0; i < domains_.size(); ++i) {
      const ActiveSpread& one = rules_.active[i];
      const std::string_view key = table.labels().text(one.rule->key + 1);
      const std::uint32_t value = one.column->at(row);
      if (value == 0) {
        out.push_back(fmt::format("{} is not set", key));
        continue;
      }
      const std::int64_t counted = domains_[i].by_value[value];
      const std::int64_t there = counted == kNoDomain ? 0 : counted;
      const std::int64_t fewest = domains_[i].minimum(one.rule->min_domains);
      const std::int64_t skew = there + self_[i] - fewest;
      if (skew > one.rule->max_skew)
        out.push_back(fmt::format("{}={}: {} pods{}, fewest {}: skew {}, at most {}", key,
                                  table.labels().text(one.column->value(value)), there,
                                  self_[i] != 0 ? " and this one" : "", fewest, skew,
                                  one.rule->max_skew));
    }
    return fmt::format("{}", fmt::join(out, "; "));
  }

  void pod_moved(const PodRecord& record, NodeIndex row, int sign) override {
    if (record.pod->meta.ns != cycle_.in.pod.meta.ns || !rules_.has_all_keys(row)) return;
    for (std::size_t i = 0; i < domains_.size(); ++i) {
      const ActiveSpread& one = rules_.active[i];
      if (!one.selector.matches(record.pod->meta.labels) || !rules_.includes(one, row)) continue;
      domains_[i].changed = one.column->at(row);
      domains_[i].add(domains_[i].changed, sign);
    }
  }

 private:
  Verdict judge_value(std::size_t at, std::uint32_t value) const {
    if (value == 0) return missing_;
    const SpreadConstraint& rule = *rules_.active[at].rule;
    const std::int64_t there = domains_[at].by_value[value];
    const std::int64_t skew =
        (there == kNoDomain ? 0 : there) + self_[at] - domains_[at].minimum(rule.min_domains);
    return skew > rule.max_skew ? skewed_ : kFits;
  }

  Cycle& cycle_;
  SpreadRules rules_;
  std::vector<Domains> domains_;
  std::vector<std::int64_t> self_;
  Verdict missing_, skewed_;
};

// The soft constraints of a pod over the nodes in question.
class SpreadScorer {
 public:
  SpreadScorer(Cycle& cycle, SpreadRules& rules, std::span<const NodeIndex> rows)
      : rules_(rules),
        rows_(rows),
        table_(cycle.cluster.table()),
        hostname_(cycle.cluster.table().labels().key_id(kHostname)),
        need_all_(
            (!cycle.in.spread->constraints.empty() || !cycle.profile.spread.system_defaults) &&
            !rules.all_have_all_keys()) {}

  bool ignored(NodeIndex row) const { return need_all_ && !rules_.has_all_keys(row); }

  SpreadPoints points_of(const ActiveSpread& one) {
    SpreadPoints made(one);
    if (one.rule->key == hostname_) {
      made.weight = weight_of(static_cast<std::size_t>(
          std::ranges::count_if(rows_, [&](NodeIndex row) { return !ignored(row); })));
      return made;
    }
    const Domains domains = domains_of(one);
    made.weight = weight_of(domains.count);
    made.by_value.assign(domains.by_value.size(), 0);
    for (std::uint32_t value = 1; value < made.by_value.size(); ++value)
      made.by_value[value] = made.of(domains.by_value[value]);
    return made;
  }

 private:
  Domains domains_of(const ActiveSpread& one) {
    Domains out;
    out.by_value.assign(one.column->size(), kNoDomain);
    // If every live node is in question and has the label, the column has all values.
    const bool everywhere =
        rows_.size() == table_.live().size() && one.column->nodes() == rows_.size();
    if (everywhere && !need_all_) {
      out.add_all(*one.column);
    } else {
      for (NodeIndex row : rows_)
        if (!ignored(row)) out.add(domain(one, row), 0);
    }
    for (const auto& [row, pods] : one.pods->entries()) {
      if (!table_.is_live(row) || ignored(row) || !rules_.includes(one, row)) continue;
      std::int64_t& there = out.by_value[domain(one, row)];
      if (there != kNoDomain) there += pods;
    }
    return out;
  }

  // A node without the label is in the domain of the empty value.
  static std::uint32_t domain(const ActiveSpread& one, NodeIndex row) {
    const std::uint32_t value = one.column->at(row);
    return value != 0 ? value : one.empty;
  }

  SpreadRules& rules_;
  std::span<const NodeIndex> rows_;
  const NodeTable& table_;
  LabelKey hostname_;
  bool need_all_;
};

}  // namespace

std::unique_ptr<Filter> make_spread_filter(Cycle& cycle) {
  SpreadRules rules(cycle, SpreadRules::Which::hard);
  if (!rules.mistake.empty()) {
    cycle.failure = {
        PluginId::PodTopologySpread, std::nullopt,
        fmt::format("obtaining pod's hard topology spread constraints: {}", rules.mistake)};
    return nullptr;
  }
  if (rules.active.empty()) return nullptr;
  return std::make_unique<SpreadFilter>(cycle, std::move(rules));
}

bool score_spread(Cycle& cycle, std::span<const NodeIndex> rows, ScoreColumn& out) {
  SpreadRules rules(cycle, SpreadRules::Which::soft);
  if (rules.active.empty()) return false;
  SpreadScorer scorer(cycle, rules, rows);
  std::vector<SpreadPoints> points;
  points.reserve(rules.active.size());
  for (const ActiveSpread& one : rules.active) points.push_back(scorer.points_of(one));

  std::int64_t highest = 0, lowest = std::numeric_limits<std::int64_t>::max();
  out.raw.resize(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (scorer.ignored(rows[i])) continue;
    double sum = 0;
    for (SpreadPoints& one : points) sum += one.at(rows[i]);
    out.raw[i] = rounded(sum);
    highest = std::max(highest, out.raw[i]);
    lowest = std::min(lowest, out.raw[i]);
  }
  out.normalized.resize(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i)
    if (!scorer.ignored(rows[i]))
      out.normalized[i] = highest == 0 ? 100 : 100 * (highest + lowest - out.raw[i]) / highest;
  return true;
}

}  // namespace plim::placement
