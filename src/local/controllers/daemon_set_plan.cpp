#include "local/controllers/daemon_set_plan.hpp"

#include <algorithm>
#include <array>

#include "kube/selector.hpp"
#include "local/controllers/pod_owner.hpp"
#include "local/controllers/pod_questions.hpp"
#include "placement/single_node.hpp"

namespace plim::local::controllers {
namespace {

json::value name_term(std::string_view node) {
  const json::value field{
      {"key", "metadata.name"}, {"operator", "In"}, {"values", json::array{node}}};
  return {{"matchFields", json::array{field}}};
}

// Keeps every term that the user gives, and restricts each to this node.
void bind_by_affinity(json::object& spec, std::string_view node) {
  json::value& affinity = spec[kube::key("PodSpec.affinity")];
  json::object& required = kube::make_object(
      affinity, "Affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution");
  const json::value term = name_term(node);
  json::value& terms = required[kube::key("NodeSelector.nodeSelectorTerms")];
  if (!terms.is_array() || terms.get_array().empty()) {
    terms = json::array{term};
    return;
  }
  for (json::value& one : terms.get_array())
    if (one.is_object())
      one.get_object()[kube::key("NodeSelectorTerm.matchFields")] = term.at("matchFields");
}

void add_tolerations(json::object& spec) {
  struct Built {
    std::string_view key, effect;
  };

  static constexpr std::array kTolerations{
      Built{"node.kubernetes.io/not-ready", "NoExecute"},
      Built{"node.kubernetes.io/unreachable", "NoExecute"},
      Built{"node.kubernetes.io/disk-pressure", "NoSchedule"},
      Built{"node.kubernetes.io/memory-pressure", "NoSchedule"},
      Built{"node.kubernetes.io/pid-pressure", "NoSchedule"},
      Built{"node.kubernetes.io/unschedulable", "NoSchedule"},
      Built{"node.kubernetes.io/network-unavailable", "NoSchedule"},
  };
  const json::value* network = spec.if_contains(kube::key("PodSpec.hostNetwork"));
  const bool on_host = network && network->is_bool() && network->get_bool();
  json::value& list = spec[kube::key("PodSpec.tolerations")];
  if (!list.is_array()) list = json::array();
  for (const Built& one : kTolerations) {
    if (one.key.ends_with("network-unavailable") && !on_host) continue;
    json::value made{{"key", one.key}, {"operator", "Exists"}, {"effect", one.effect}};
    auto& given = list.get_array();
    if (std::find(given.begin(), given.end(), made) == given.end())
      given.push_back(std::move(made));
  }
}

struct Fit {
  bool run = false;       // a pod may start there
  bool carry_on = false;  // a pod that is there may stay
};

Fit fit_of(const placement::NodeDemands& demands, const kube::Node& node) {
  const bool chosen = demands.accept_name(node) && demands.accept_labels(node);
  if (!chosen || !demands.tolerate(node, "NoExecute")) return {};
  return {.run = demands.tolerate(node, "NoSchedule"), .carry_on = true};
}

class DaemonPlanner {
 public:
  DaemonPlanner(const DaemonInput& input, WallTime now)
      : input_(input),
        now_(now),
        spec_(input.daemon_set->json),
        surges_(bound("DaemonSet.spec.updateStrategy.rollingUpdate.maxSurge", 100).value_or(0) >
                0) {
    for (const PodPointer& pod : input.pods) by_node_[node_of_daemon_pod(*pod)].push_back(pod);
  }

  DaemonPlan plan() {
    kube::InternPool pool;
    std::string text = to_json(daemon_pod(*input_.daemon_set, input_.revision_hash, ""));
    auto sample = kube::decode_pod(kube::JsonText(text), pool);
    if (sample) {
      const placement::NodeDemands demands(*sample);
      for (const NodePointer& node : input_.nodes) look_at(*node, fit_of(demands, *node));
    }
    drop_strays();
    if (!input_.daemon_set->meta.deleted) update();
    if (plan_.create.size() > kDaemonBurst) plan_.create.resize(kDaemonBurst);
    write_status();
    return std::move(plan_);
  }

 private:
  std::chrono::seconds min_ready() const {
    return std::chrono::seconds(kube::int_at(spec_, "DaemonSet.spec.minReadySeconds").value_or(0));
  }

  std::optional<std::int64_t> bound(kube::AnyPath field, std::int64_t total) const {
    return int_or_percent(kube::find(spec_, field), total, Round::up);
  }

  bool is_current(const kube::Pod& pod) const {
    return kube::find_label(pod.meta.labels, kRevisionHash) == input_.revision_hash;
  }

  void look_at(const kube::Node& node, Fit fit) {
    std::vector<PodPointer> pods = by_node_[node.meta.name];
    seen_.push_back(node.meta.name);
    count(pods, fit);
    if (!fit.carry_on) {
      for (const PodPointer& pod : pods)
        if (!pod->meta.deleted) plan_.remove.push_back(pod);
      return;
    }
    if (pods.empty() && fit.run) {
      plan_.create.push_back(node.meta.name);
      return;
    }
    std::vector<PodPointer> alive;
    for (const PodPointer& pod : pods) {
      if (pod->meta.deleted) continue;
      if (is_terminal(*pod)) {
        replace_ended(pod, node.meta.name);
      } else {
        alive.push_back(pod);
      }
    }
    // If there are several, the one that is furthest along stays; among equals, the oldest.
    std::sort(alive.begin(), alive.end(), [](const PodPointer& a, const PodPointer& b) {
      const bool placed = !a->spec.node_name.empty();
      if (placed != !b->spec.node_name.empty()) return placed;
      return a->meta.created < b->meta.created;
    });
    if (surges_ && fit.run) return keep_pair(node.meta.name, alive);
    for (std::size_t i = 1; i < alive.size(); ++i) plan_.remove.push_back(alive[i]);
    if (!alive.empty()) running_.push_back(alive.front());
  }

  // With surge, a node may have an old pod and its successor at once.
  void keep_pair(const std::string& node, const std::vector<PodPointer>& alive) {
    Pair pair{.node = node};
    for (const PodPointer& pod : alive) {
      PodPointer& place = is_current(*pod) ? pair.current : pair.old;
      if (place) {
        plan_.remove.push_back(pod);
      } else {
        place = pod;
      }
    }
    pairs_.push_back(std::move(pair));
  }

  // A pod that fails repeatedly is replaced only after a delay.
  void replace_ended(const PodPointer& pod, const std::string& node) {
    auto wait = input_.retry_from.find(node);
    if (pod->status.phase == "Failed" && wait != input_.retry_from.end() && wait->second > now_) {
      plan_.look_again = std::min(plan_.look_again.value_or(wait->second), wait->second);
      return;
    }
    if (pod->status.phase == "Failed") plan_.failed.push_back(pod);
    plan_.remove.push_back(pod);
  }

  // Deletes pods of nodes that no longer exist.
  void drop_strays() {
    std::sort(seen_.begin(), seen_.end());
    for (const auto& [node, pods] : by_node_)
      if (!node.empty() && !std::binary_search(seen_.begin(), seen_.end(), node))
        for (const PodPointer& pod : pods)
          if (!pod->meta.deleted && pod->spec.node_name.empty()) plan_.remove.push_back(pod);
  }

  void update() {
    if (kube::text_at(spec_, "DaemonSet.spec.updateStrategy.type") == "OnDelete") return;
    if (surges_) {
      surge();
    } else {
      replace();
    }
  }

  // Creates the successor first; deletes the old pod when the successor is available.
  void surge() {
    std::int64_t room =
        bound("DaemonSet.spec.updateStrategy.rollingUpdate.maxSurge", desired_).value_or(0);
    std::vector<std::string> candidates;
    for (const Pair& pair : pairs_) {
      if (!pair.old) continue;
      if (!pair.current) {
        const bool works = is_available(*pair.old, min_ready(), now_);
        (works ? candidates : plan_.create).push_back(pair.node);
      } else if (is_available(*pair.current, min_ready(), now_)) {
        plan_.remove.push_back(pair.old);
      } else {
        --room;
      }
    }
    for (const std::string& node : candidates)
      if (room-- > 0) plan_.create.push_back(node);
  }

  // Deletes old pods that are not available at once, and as many others as maxUnavailable allows.
  void replace() {
    std::int64_t may_miss = std::max<std::int64_t>(
        1,
        bound("DaemonSet.spec.updateStrategy.rollingUpdate.maxUnavailable", desired_).value_or(1));
    std::vector<PodPointer> candidates;
    for (const PodPointer& pod : running_) {
      const bool available = is_available(*pod, min_ready(), now_);
      if (!available) --may_miss;
      if (is_current(*pod)) continue;
      if (available) {
        candidates.push_back(pod);
      } else {
        plan_.remove.push_back(pod);
      }
    }
    may_miss -= static_cast<std::int64_t>(plan_.create.size()) + between_;
    for (const PodPointer& pod : candidates)
      if (may_miss-- > 0) plan_.remove.push_back(pod);
  }

  void count(const std::vector<PodPointer>& pods, Fit fit) {
    if (!fit.run) {
      if (!pods.empty()) ++misscheduled_;
      return;
    }
    ++desired_;
    if (pods.empty()) return;
    ++current_;
    // The oldest pod counts for the node.
    const PodPointer& pod = *std::min_element(
        pods.begin(), pods.end(),
        [](const PodPointer& a, const PodPointer& b) { return a->meta.created < b->meta.created; });
    if (is_ready(*pod)) ++ready_;
    if (is_available(*pod, min_ready(), now_)) ++available_;
    if (is_current(*pod)) ++updated_;
    const bool going = std::all_of(pods.begin(), pods.end(),
                                   [](const PodPointer& one) { return !is_active(*one); });
    if (going) ++between_;
    if (auto when = available_from(*pod, min_ready(), now_))
      plan_.look_again = std::min(plan_.look_again.value_or(*when), *when);
  }

  void write_status() {
    const json::value* before = kube::find(spec_, "DaemonSet.status");
    json::object status = before && before->is_object() ? before->get_object() : json::object();
    status[kube::key("DaemonSetStatus.currentNumberScheduled")] = current_;
    status[kube::key("DaemonSetStatus.numberMisscheduled")] = misscheduled_;
    status[kube::key("DaemonSetStatus.desiredNumberScheduled")] = desired_;
    status[kube::key("DaemonSetStatus.numberReady")] = ready_;
    set_or_omit(status, "DaemonSetStatus.observedGeneration", input_.daemon_set->meta.generation);
    set_or_omit(status, "DaemonSetStatus.updatedNumberScheduled", updated_);
    set_or_omit(status, "DaemonSetStatus.numberAvailable", available_);
    set_or_omit(status, "DaemonSetStatus.numberUnavailable", desired_ - available_);
    plan_.status = std::move(status);
  }

  struct Pair {
    std::string node;
    PodPointer current = {}, old = {};
  };

  const DaemonInput& input_;
  WallTime now_;
  const json::value& spec_;
  bool surges_;
  std::map<std::string, std::vector<PodPointer>> by_node_;
  std::vector<std::string> seen_;
  std::vector<Pair> pairs_;          // with surge: the pods of each node
  std::vector<PodPointer> running_;  // otherwise: the pod that stays on each node
  std::int64_t desired_ = 0, current_ = 0, misscheduled_ = 0, ready_ = 0, available_ = 0,
               updated_ = 0;
  std::int64_t between_ = 0;  // nodes whose old pod is being deleted and has no successor yet
  DaemonPlan plan_;
};

}  // namespace

json::value daemon_pod(const Object& daemon_set, std::string_view revision_hash,
                       std::string_view node) {
  const json::value* pod_template = kube::find(daemon_set.json, "DaemonSet.spec.template");
  const Parent parent(kube::resources::daemon_sets, daemon_set.meta);
  json::value pod = pod_from_template(pod_template ? *pod_template : json::value(), parent);
  json::object& labels = kube::make_object(pod, "Pod.metadata.labels");
  labels[kRevisionHash] = revision_hash;
  const std::string_view generation =
      kube::annotation_of(daemon_set.json, "deprecated.daemonset.template.generation");
  if (!generation.empty()) labels["pod-template-generation"] = generation;
  json::object& spec = kube::make_object(pod, "Pod.spec");
  add_tolerations(spec);
  if (!node.empty()) bind_by_affinity(spec, node);
  return pod;
}

std::string node_of_daemon_pod(const kube::Pod& pod) {
  if (!pod.spec.node_name.empty()) return std::string(pod.spec.node_name.view());
  const placement::NodeDemands demands(pod);
  for (const placement::NodeTerm& term : demands.rules().required)
    for (const placement::NodeTerm::Name& name : term.names)
      if (name.known_field && name.equal) return name.value;
  return "";
}

DaemonPlan plan_daemon_set(const DaemonInput& input, WallTime now) {
  return DaemonPlanner(input, now).plan();
}

}  // namespace plim::local::controllers
