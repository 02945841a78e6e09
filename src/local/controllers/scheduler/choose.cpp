#include "local/controllers/scheduler/choose.hpp"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace plim::local::controllers::scheduler {
namespace {

constexpr std::size_t kEnough = 100;  // nodes that would do, before the search ends

// What is forbidden or needed by pods elsewhere, as values of one topology label.
struct Domains {
  std::string key;
  std::set<std::string, std::less<>> values;

  bool has(const kube::Node& node) const {
    auto value = kube::find_label(node.meta.labels, key);
    return value && values.contains(*value);
  }
};

void note_domain(Domains& domains, const kube::Node& node) {
  if (auto value = kube::find_label(node.meta.labels, domains.key)) domains.values.emplace(*value);
}

Domains domains_with(const PodTerm& term, std::span<const NodeState* const> nodes) {
  Domains out{.key = term.topology_key, .values = {}};
  for (const NodeState* node : nodes) {
    auto matches = [&](const auto& placed) { return term.matches(*placed->pod); };
    if (std::ranges::any_of(node->pods(), matches)) note_domain(out, node->node());
  }
  return out;
}

// Where pods want to stay apart from this one.
std::vector<Domains> forbidden_by_others(const kube::Pod& pod,
                                         std::span<const NodeState* const> nodes) {
  std::vector<Domains> out;
  for (const NodeState* node : nodes) {
    if (!node->has_pods_apart()) continue;
    for (const auto& placed : node->pods()) {
      for (const PodTerm& term : placed->apart) {
        if (!term.matches(pod)) continue;
        auto found = std::ranges::find(out, term.topology_key, &Domains::key);
        if (found == out.end()) found = out.insert(out.end(), {term.topology_key, {}});
        note_domain(*found, node->node());
      }
    }
  }
  return out;
}

// One pod's search.
class Search {
 public:
  Search(const kube::Pod& pod, std::span<const NodeState* const> nodes)
      : pod_(pod), demand_(demand_of(pod)), rules_(rules_of(pod)) {
    for (const PodTerm& term : rules_.near) {
      Domains domains = domains_with(term, nodes);
      // The first of a group that wants to be together may go anywhere.
      bool is_first = domains.values.empty() && term.matches(pod);
      if (is_first) {
        first_of_.push_back(term.topology_key);
      } else {
        near_.push_back(std::move(domains));
      }
    }
    for (const PodTerm& term : rules_.apart) apart_.push_back(domains_with(term, nodes));
    forbidden_ = forbidden_by_others(pod, nodes);
  }

  // Why the pod cannot go there; none: it can. In the order of the stock scheduler's plugins, of
  // which the first that objects is heard.
  std::vector<std::string> objections(const NodeState& state) const {
    const kube::Node& node = state.node();
    if (node.unschedulable && !kube::unschedulable_is_tolerated(rules_.tolerations))
      return {"node(s) were unschedulable"};
    for (const kube::Taint& taint : node.taints) {
      bool hard = taint.effect == "NoSchedule" || taint.effect == "NoExecute";
      if (hard && !kube::tolerated(rules_.tolerations, taint))
        return {fmt::format("node(s) had untolerated taint {{{}: {}}}", taint.key.view(),
                            taint.value.view())};
    }
    if (!rules_.fits_labels(node)) return {"node(s) didn't match Pod's node affinity/selector"};
    if (ports_clash(state)) return {"node(s) didn't have free ports for the requested pod ports"};
    if (auto missing = missing_resources(state); !missing.empty()) return missing;
    return pod_objections(node);
  }

  std::int64_t score(const NodeState& state) const {
    std::int64_t out = free_share(state) + 3 * spread(state);
    for (const NodeTerm& term : rules_.preferred_nodes)
      if (term.matches(state.node())) out += 2 * term.weight;
    for (const kube::Taint& taint : state.node().taints)
      if (taint.effect == "PreferNoSchedule" && !kube::tolerated(rules_.tolerations, taint))
        out -= 300;
    return out;
  }

 private:
  bool ports_clash(const NodeState& state) const {
    if (rules_.ports.empty()) return false;
    for (const auto& placed : state.pods())
      for (const kube::HostPort& wanted : rules_.ports)
        if (wanted.clashes_with_any(placed->ports)) return true;
    return false;
  }

  std::vector<std::string> missing_resources(const NodeState& state) const {
    const Demand &has = state.allocatable(), &used = state.used();
    std::vector<std::string> out;
    if (used.pods + 1 > has.pods) out.emplace_back("Too many pods");
    auto check = [&](std::string_view name, std::int64_t wanted, std::int64_t taken,
                     std::int64_t all) {
      if (wanted > 0 && wanted > all - taken) out.push_back(fmt::format("Insufficient {}", name));
    };
    check("cpu", demand_.cpu_milli, used.cpu_milli, has.cpu_milli);
    check("memory", demand_.memory, used.memory, has.memory);
    check("ephemeral-storage", demand_.ephemeral_storage, used.ephemeral_storage,
          has.ephemeral_storage);
    for (const auto& [name, wanted] : demand_.extended)
      check(name, wanted, used.at(name), has.at(name));
    return out;
  }

  std::vector<std::string> pod_objections(const kube::Node& node) const {
    auto lacks_label = [&](const std::string& key) {
      return !kube::find_label(node.meta.labels, key);
    };
    auto lacks = [&](const Domains& domains) { return !domains.has(node); };
    auto has = [&](const Domains& domains) { return domains.has(node); };
    if (std::ranges::any_of(near_, lacks) || std::ranges::any_of(first_of_, lacks_label))
      return {"node(s) didn't match pod affinity rules"};
    if (std::ranges::any_of(apart_, has)) return {"node(s) didn't match pod anti-affinity rules"};
    if (std::ranges::any_of(forbidden_, has))
      return {"node(s) didn't satisfy existing pods anti-affinity rules"};
    return {};
  }

  // 0 to 100: what would be left of CPU and memory. A pod that asks for nothing counts as a small
  // one, so that such pods spread too.
  std::int64_t free_share(const NodeState& state) const {
    constexpr std::int64_t kSmallCpu = 100, kSmallMemory = std::int64_t{200} << 20;
    auto pods = state.used().pods;
    auto share = [&](std::int64_t all, std::int64_t used, std::int64_t wanted, std::int64_t small) {
      if (all <= 0) return std::int64_t{0};
      std::int64_t taken = std::max(used, pods * small) + std::max(wanted, small);
      return std::max<std::int64_t>(0, (all - taken) * 100 / all);
    };
    const Demand &has = state.allocatable(), &used = state.used();
    return (share(has.cpu_milli, used.cpu_milli, demand_.cpu_milli, kSmallCpu) +
            share(has.memory, used.memory, demand_.memory, kSmallMemory)) /
           2;
  }

  // 0 to 100, less for every pod of the same controller that is there already.
  std::int64_t spread(const NodeState& state) const {
    if (pod_.meta.owners.empty()) return 100;
    const std::string& owner = pod_.meta.owners.front().uid;
    auto related = [&](const auto& placed) {
      return !placed->pod->meta.owners.empty() && placed->pod->meta.owners.front().uid == owner;
    };
    return 100 / (1 + std::ranges::count_if(state.pods(), related));
  }

  const kube::Pod& pod_;
  Demand demand_;
  Rules rules_;
  std::vector<Domains> near_, apart_, forbidden_;
  std::vector<std::string> first_of_;
};

std::string explain(std::size_t nodes, const std::map<std::string, std::size_t>& reasons) {
  if (nodes == 0) return "no nodes available to schedule pods";
  std::vector<std::string> parts;
  for (const auto& [reason, count] : reasons) parts.push_back(fmt::format("{} {}", count, reason));
  std::ranges::sort(parts);
  return fmt::format("0/{} nodes are available: {}.", nodes, fmt::join(parts, ", "));
}

}  // namespace

PlacedPod::PlacedPod(std::shared_ptr<const kube::Pod> placed)
    : pod(std::move(placed)),
      demand(demand_of(*pod)),
      ports(kube::host_ports(*pod)),
      apart(apart_terms_of(*pod)) {}

NodeState::NodeState(std::shared_ptr<const kube::Node> node) {
  set_node(std::move(node));
}

void NodeState::set_node(std::shared_ptr<const kube::Node> node) {
  node_ = std::move(node);
  allocatable_ = demand_of(node_->allocatable);
}

void NodeState::add(std::shared_ptr<const PlacedPod> pod) {
  used_.add(pod->demand, 1);
  apart_pods_ += pod->apart.empty() ? 0 : 1;
  pods_.push_back(std::move(pod));
}

void NodeState::remove(const PlacedPod& pod) {
  auto same = [&](const auto& placed) { return placed->pod->meta.uid == pod.pod->meta.uid; };
  auto found = std::ranges::find_if(pods_, same);
  if (found == pods_.end()) return;
  used_.add((*found)->demand, -1);
  apart_pods_ -= (*found)->apart.empty() ? 0 : 1;
  pods_.erase(found);
}

Choice choose_node(const kube::Pod& pod, std::span<const NodeState* const> nodes,
                   std::size_t first) {
  const Search search(pod, nodes);
  std::map<std::string, std::size_t> reasons;
  const NodeState* best = nullptr;
  std::int64_t best_score = 0;
  Choice out;
  std::size_t fitting = 0;
  while (out.looked_at < nodes.size() && fitting < kEnough) {
    const NodeState* node = nodes[(first + out.looked_at++) % nodes.size()];
    auto objections = search.objections(*node);
    for (std::string& objection : objections) ++reasons[std::move(objection)];
    if (!objections.empty()) continue;
    ++fitting;
    std::int64_t score = search.score(*node);
    if (best != nullptr && score <= best_score) continue;
    best = node;
    best_score = score;
  }
  if (best != nullptr) {
    out.node = best->node().meta.name;
  } else {
    out.why_not = explain(nodes.size(), reasons);
  }
  return out;
}

}  // namespace plim::local::controllers::scheduler
