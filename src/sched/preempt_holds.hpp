// Preemptors that must wait until the deletion of their victims has begun. Until then the victims
// look like pods that stay, and a new try would evict more pods. Pure. Belongs to one thread.
#pragma once

#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sched/vocabulary.hpp"

namespace plim::sched {

class PreemptHolds {
 public:
  // It does not wait for victims that are already being deleted.
  void begin(std::string_view preemptor, std::span<const PodPointer> victims);

  bool holds(std::string_view preemptor) const { return awaited_.contains(preemptor); }

  // The victim is being deleted or gone. Returns the preemptors that need not wait any more.
  std::vector<std::string> leaves(std::string_view victim);

  // The preemptor is gone, or one of its victims could not be removed. False: it was not held.
  bool end(std::string_view preemptor);

 private:
  kube::TextMap<std::set<std::string, std::less<>>>
      awaited_;  // uids of victims by that of the preemptor
};

}  // namespace plim::sched
