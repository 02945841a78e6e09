// Pods for which others are being removed, and whose turn must not come before that is known to be
// under way: until then the others look as if they stayed, and still others would be removed too.
// Pure. Belongs to one thread.
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
  // Victims that are leaving already need not be waited for.
  void begin(std::string_view preemptor, std::span<const PodPointer> victims);

  bool holds(std::string_view preemptor) const { return awaited_.contains(preemptor); }

  // The victim is being deleted, or gone. Returns the pods that nothing holds any more.
  std::vector<std::string> leaves(std::string_view victim);

  // The preemptor is gone, or one of its victims could not be removed. False: it was not held.
  bool end(std::string_view preemptor);

 private:
  kube::TextMap<std::set<std::string, std::less<>>>
      awaited_;  // uids of victims by that of the preemptor
};

}  // namespace plim::sched
