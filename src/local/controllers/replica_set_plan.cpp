#include "local/controllers/replica_set_plan.hpp"

#include <algorithm>

#include "kube/selector.hpp"
#include "local/controllers/conditions.hpp"
#include "local/controllers/pod_questions.hpp"

namespace plim::local::controllers {

ReplicaPlan plan_replicas(std::int64_t wanted, const std::vector<PodPointer>& active,
                          const std::vector<PodPointer>& related, WallTime now) {
  ReplicaPlan out;
  const auto target = static_cast<std::size_t>(std::max<std::int64_t>(0, wanted));
  if (active.size() < target) {
    out.create = std::min(target - active.size(), kReplicaBurst);
  } else if (active.size() > target) {
    out.remove = active;
    const std::size_t surplus = std::min(active.size() - target, kReplicaBurst);
    if (surplus < active.size())
      std::partial_sort(out.remove.begin(),
                        out.remove.begin() + static_cast<std::ptrdiff_t>(surplus), out.remove.end(),
                        DeletionOrder(related, now));
    out.remove.resize(surplus);
  }
  return out;
}

ReplicaCounts count_replicas(const json::value& replica_set, const std::vector<PodPointer>& active,
                             WallTime now) {
  ReplicaCounts out;
  out.replicas = static_cast<std::int64_t>(active.size());
  const std::chrono::seconds min_ready(
      kube::int_at(replica_set, "ReplicaSet.spec.minReadySeconds").value_or(0));
  const TextPairs labels =
      text_pairs(kube::find(replica_set, "ReplicaSet.spec.template.metadata.labels"));
  for (const PodPointer& pod : active) {
    const bool full = std::all_of(labels.begin(), labels.end(), [&](const auto& label) {
      return kube::find_label(pod->meta.labels, label.first) == label.second;
    });
    if (full) ++out.fully_labeled;
    if (!is_ready(*pod)) continue;
    ++out.ready;
    if (is_available(*pod, min_ready, now)) ++out.available;
    if (auto when = available_from(*pod, min_ready, now))
      out.next_available = std::min(out.next_available.value_or(*when), *when);
  }
  return out;
}

json::value replica_set_status(const Object& replica_set, const ReplicaCounts& counts,
                               const std::optional<Error>& trouble, WallTime now) {
  const json::value* before = kube::find(replica_set.json, "ReplicaSet.status");
  json::object status = before && before->is_object() ? before->get_object() : json::object();
  status[kube::key("ReplicaSetStatus.replicas")] = counts.replicas;
  set_or_omit(status, "ReplicaSetStatus.fullyLabeledReplicas", counts.fully_labeled);
  set_or_omit(status, "ReplicaSetStatus.readyReplicas", counts.ready);
  set_or_omit(status, "ReplicaSetStatus.availableReplicas", counts.available);
  status[kube::key("ReplicaSetStatus.terminatingReplicas")] = counts.terminating;
  set_or_omit(status, "ReplicaSetStatus.observedGeneration", replica_set.meta.generation);
  const bool failed_before = before && find_condition(*before, "ReplicaFailure");
  if (trouble && !failed_before) {
    const bool too_few =
        counts.replicas < kube::int_at(replica_set.json, "ReplicaSet.spec.replicas").value_or(1);
    put_condition(status, make_condition({.type = "ReplicaFailure",
                                          .status = "True",
                                          .reason = too_few ? "FailedCreate" : "FailedDelete",
                                          .message = trouble->message},
                                         now));
  } else if (!trouble) {
    remove_condition(status, "ReplicaFailure");
  }
  return status;
}

}  // namespace plim::local::controllers
