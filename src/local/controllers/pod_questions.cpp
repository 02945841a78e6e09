#include "local/controllers/pod_questions.hpp"

#include <algorithm>
#include <bit>

#include "base/text.hpp"

namespace plim::local::controllers {
namespace {

int phase_rank(const kube::Pod& pod) {
  if (pod.status.phase == "Pending") return 0;
  if (pod.status.phase == "Unknown") return 1;
  return 2;
}

std::int64_t deletion_cost(const kube::Pod& pod) {
  auto text = annotation_of(pod.meta, "controller.kubernetes.io/pod-deletion-cost");
  if (!text) return 0;
  auto cost = parse_int<std::int32_t>(*text);
  return cost ? *cost : 0;
}

std::optional<WallTime> ready_since(const kube::Pod& pod) {
  const kube::Condition* ready = find_condition(pod.status.conditions, "Ready");
  return is_true(ready) ? ready->last_transition : std::nullopt;
}

std::int32_t most_restarts(const kube::Pod& pod) {
  std::int32_t most = 0;
  for (const kube::ContainerStatus& one : pod.status.containers)
    most = std::max(most, one.restarts);
  return most;
}

// Negative if `a` is younger than `b` by at least one power of two.
int compare_ages(std::optional<WallTime> a, std::optional<WallTime> b, WallTime now) {
  if (!a || !b) return (a ? 1 : 0) - (b ? 1 : 0);
  auto magnitude = [&](WallTime then) {
    auto age = std::max<std::int64_t>(0, (now - then).count());
    return static_cast<int>(std::bit_width(static_cast<std::uint64_t>(age)));
  };
  return magnitude(*a) - magnitude(*b);
}

}  // namespace

const kube::Condition* find_condition(const std::vector<kube::Condition>& conditions,
                                      std::string_view type) {
  for (const kube::Condition& one : conditions)
    if (one.type == type) return &one;
  return nullptr;
}

bool is_true(const kube::Condition* condition) {
  return condition && condition->status == "True";
}

bool is_ready(const kube::Pod& pod) {
  return is_true(find_condition(pod.status.conditions, "Ready"));
}

bool is_terminal(const kube::Pod& pod) {
  return pod.status.phase == "Succeeded" || pod.status.phase == "Failed";
}

bool is_active(const kube::Pod& pod) {
  return !is_terminal(pod) && !pod.meta.deleted;
}

bool is_terminating(const kube::Pod& pod) {
  return !is_terminal(pod) && pod.meta.deleted.has_value();
}

bool is_available(const kube::Pod& pod, std::chrono::seconds min_ready, WallTime now) {
  if (!is_ready(pod)) return false;
  if (min_ready.count() <= 0) return true;
  auto since = ready_since(pod);
  return since && *since + min_ready <= now;
}

std::optional<WallTime> available_from(const kube::Pod& pod, std::chrono::seconds min_ready,
                                       WallTime now) {
  auto since = ready_since(pod);
  if (!since || is_available(pod, min_ready, now)) return std::nullopt;
  return *since + min_ready;
}

DeletionOrder::DeletionOrder(const std::vector<PodPointer>& related, WallTime now) : now_(now) {
  std::vector<std::string_view> nodes;
  for (const PodPointer& pod : related)
    if (is_active(*pod) && !pod->spec.node_name.empty())
      nodes.push_back(pod->spec.node_name.view());
  std::sort(nodes.begin(), nodes.end());
  for (std::string_view node : nodes) {
    if (per_node_.empty() || per_node_.back().first != node) per_node_.emplace_back(node, 0);
    ++per_node_.back().second;
  }
}

std::int64_t DeletionOrder::crowd(const kube::Pod& pod) const {
  auto found =
      std::lower_bound(per_node_.begin(), per_node_.end(), pod.spec.node_name.view(),
                       [](const auto& entry, std::string_view node) { return entry.first < node; });
  bool known = found != per_node_.end() && found->first == pod.spec.node_name.view();
  return known ? found->second : 0;
}

bool DeletionOrder::operator()(const PodPointer& a, const PodPointer& b) const {
  if (a->spec.node_name.empty() != b->spec.node_name.empty()) return a->spec.node_name.empty();
  if (int x = phase_rank(*a), y = phase_rank(*b); x != y) return x < y;
  const bool ready = is_ready(*a);
  if (ready != is_ready(*b)) return !ready;
  if (auto x = deletion_cost(*a), y = deletion_cost(*b); x != y) return x < y;
  if (auto x = crowd(*a), y = crowd(*b); x != y) return x > y;
  if (ready)
    if (int age = compare_ages(ready_since(*a), ready_since(*b), now_); age != 0) return age < 0;
  if (auto x = most_restarts(*a), y = most_restarts(*b); x != y) return x > y;
  if (int age = compare_ages(a->meta.created, b->meta.created, now_); age != 0) return age < 0;
  return a->meta.uid < b->meta.uid;
}

}  // namespace plim::local::controllers
