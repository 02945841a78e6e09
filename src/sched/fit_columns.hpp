// What NodeResourcesFit and NodeResourcesBalancedAllocation make of each node for pods that ask for
// the same, remembered: after a placement one row has changed, and only that is looked at again.
#pragma once

#include <algorithm>
#include <cstdint>
#include <list>
#include <vector>

#include "sched/node_table.hpp"
#include "sched/profile.hpp"
#include "sched/requests.hpp"

namespace plim::sched {

struct FitColumns {
  std::vector<std::uint8_t> fits;  // by row
  std::vector<std::int16_t> score, balance;
};

struct FitQuestion {
  const PodRequests& requests;
  const PodRequests& scored;
  const FitArgs& fit;
  const BalancedArgs& balanced;
};

// The resources of a pod that must fit, those it was told to ignore left out.
std::vector<std::pair<ResourceId, std::int64_t>> needed_resources(const PodRequests& requests,
                                                                  const FitArgs& args,
                                                                  const NodeTable& table);

// Belongs to one thread, as the table does.
class FitCache {
 public:
  // Valid until the next call.
  const FitColumns& get(const FitQuestion& question, const NodeTable& table);

 private:
  // Kinds of pods that wait in turn must all be there, or each decision starts anew; a row takes 5
  // bytes of each.
  static std::size_t most(std::size_t rows) {
    return std::clamp<std::size_t>((std::size_t{1} << 20) / (rows + 1), 32, 512);
  }

  struct Entry {
    PodRequests requests, scored;
    FitArgs fit;
    BalancedArgs balanced;
    std::uint64_t seen = 0;
    FitColumns columns;

    bool answers(const FitQuestion& question) const;
  };

  std::list<Entry> entries_;  // lately used first
};

}  // namespace plim::sched
