// Predicates about pods that several controllers use. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/clock.hpp"
#include "kube/types.hpp"
#include "local/controllers/owned_object.hpp"

namespace plim::local::controllers {

const kube::Condition* find_condition(const std::vector<kube::Condition>& conditions,
                                      std::string_view type);
bool is_true(const kube::Condition* condition);

bool is_ready(const kube::Pod& pod);
bool is_terminal(const kube::Pod& pod);     // Succeeded or Failed
bool is_active(const kube::Pod& pod);       // neither ended nor being deleted
bool is_terminating(const kube::Pod& pod);  // being deleted, but not ended

// True if the pod has been ready for `min_ready`.
bool is_available(const kube::Pod& pod, std::chrono::seconds min_ready, WallTime now);
// When a ready pod will be available; nothing if it is not ready or is available already.
std::optional<WallTime> available_from(const kube::Pod& pod, std::chrono::seconds min_ready,
                                       WallTime now);

// The order in which a set that shrinks deletes its pods, as in kube-controller-manager: without a
// node, pending, not ready, low deletion cost, many of the set on one node, ready for a shorter
// time, restarted often, younger. Ages count by magnitude, so that pods of one rollout are equal;
// then their UIDs, which are random, decide.
class DeletionOrder {
 public:
  // `related`: all pods with the same purpose; their number on a node makes it crowded.
  DeletionOrder(const std::vector<PodPointer>& related, WallTime now);

  // True if `a` is deleted before `b`.
  bool operator()(const PodPointer& a, const PodPointer& b) const;

 private:
  std::int64_t crowd(const kube::Pod& pod) const;

  std::vector<std::pair<std::string_view, std::int64_t>> per_node_;  // sorted by node
  WallTime now_;
};

}  // namespace plim::local::controllers
