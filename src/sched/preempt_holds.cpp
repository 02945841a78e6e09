#include "sched/preempt_holds.hpp"

namespace plim::sched {

void PreemptHolds::begin(std::string_view preemptor, std::span<const PodPointer> victims) {
  end(preemptor);
  std::set<std::string, std::less<>> awaited;
  for (const PodPointer& victim : victims)
    if (!victim->meta.deleted) awaited.insert(victim->meta.uid);
  if (!awaited.empty()) awaited_.emplace(preemptor, std::move(awaited));
}

std::vector<std::string> PreemptHolds::leaves(std::string_view victim) {
  std::vector<std::string> out;
  for (auto at = awaited_.begin(); at != awaited_.end();) {
    auto found = at->second.find(victim);
    if (found != at->second.end()) at->second.erase(found);
    if (at->second.empty()) {
      out.push_back(at->first);
      at = awaited_.erase(at);
    } else {
      ++at;
    }
  }
  return out;
}

bool PreemptHolds::end(std::string_view preemptor) {
  auto at = awaited_.find(preemptor);
  if (at == awaited_.end()) return false;
  awaited_.erase(at);
  return true;
}

}  // namespace plim::sched
