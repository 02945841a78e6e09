#include "sched/event_hints.hpp"

#include <algorithm>

namespace plim::sched {

bool EventHints::helps(const QueueEntry& entry, const ClusterEvent& event) {
  if (entry.gated_by && (event_mask(*entry.gated_by) & event_bit(event.kind)) == 0) return false;
  if (event.up_to_priority && entry.pod->spec.priority > *event.up_to_priority) return false;
  if (entry.by_extender) return true;
  if ((entry.interest & event_bit(event.kind)) == 0) return false;
  return std::ranges::any_of(entry.rejected_by,
                             [&](PluginId plugin) { return ask(plugin, event, *entry.pod); });
}

bool EventHints::ask(PluginId plugin, const ClusterEvent& event, const kube::Pod& pod) {
  const auto answer = [&] {
    return hint_ ? hint_(plugin, event, pod) : may_help(plugin, event, pod);
  };
  if (clock_ == nullptr || asked_++ % 10 != 0) return answer();
  const SteadyTime began = clock_->steady();
  const bool out = answer();
  on_hint_(plugin, event.kind, out, clock_->steady() - began);
  return out;
}

}  // namespace plim::sched
