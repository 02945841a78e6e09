#include "pools/packing.hpp"

#include <algorithm>
#include <map>
#include <vector>

namespace plim::pools {
namespace {

enum class Level { numa, l3, core };

class Packing {
 public:
  Packing(const Pool& pool, const Topology& topology) : pool_(pool), topology_(topology) {}

  CpuSet pick(Level level, const CpuSet& free, const CpuSet& must, int size) const {
    if (size <= 0) return {};
    if (free.count() <= size) return free;
    if (level == Level::core) return pick_cores(free, must, size);
    const Level below = level == Level::numa ? Level::l3 : Level::core;
    std::vector<CpuSet> groups = groups_of(level, free);
    const bool most_room = level == Level::numa && pool_.spread;
    const CpuSet* best = nullptr;
    for (const CpuSet& group : groups) {
      if (group.count() < size || !must.is_subset_of(group)) continue;
      if (best == nullptr ||
          (most_room ? group.count() > best->count() : group.count() < best->count()))
        best = &group;
    }
    if (best != nullptr) return pick(below, *best, must, size);
    // First groups that contain CPUs of `must`, then those with the most free CPUs.
    std::ranges::sort(groups, [&](const CpuSet& a, const CpuSet& b) {
      const bool first = a.intersects(must), second = b.intersects(must);
      if (first != second) return first;
      return a.count() != b.count() ? a.count() > b.count() : a.first() < b.first();
    });
    CpuSet out;
    int left = size, must_left = must.count();
    for (const CpuSet& group : groups) {
      const CpuSet here = must & group;
      must_left -= here.count();
      const int take = std::min(group.count(), left - must_left);
      out |= pick(below, group, here, take);
      left -= take;
    }
    return out;
  }

 private:
  std::vector<CpuSet> groups_of(Level level, const CpuSet& free) const {
    std::map<int, CpuSet> by_place;
    for (int cpu : free)
      by_place[level == Level::numa ? topology_.numa(cpu) : topology_.l3(cpu)].add(cpu);
    std::vector<CpuSet> out;
    for (auto& [place, set] : by_place) out.push_back(std::move(set));
    return out;
  }

  CpuSet pick_cores(const CpuSet& free, const CpuSet& must, int size) const {
    CpuSet out = must;
    const auto add_lowest = [&](const CpuSet& from) {
      for (int cpu : from - out) {
        if (out.count() >= size) return;
        out.add(cpu);
      }
    };
    if (pool_.smt == SmtPolicy::none) {
      CpuSet broken;
      for (int cpu : free - must) {
        const CpuSet core = topology_.siblings(cpu);
        const bool whole = core.is_subset_of(free - out);
        if (whole && core.count() <= size - out.count()) out |= core;
        if (!core.is_subset_of(free) || core.intersects(must)) broken.add(cpu);
      }
      add_lowest(broken);
    }
    add_lowest(free);
    return out;
  }

  const Pool& pool_;
  const Topology& topology_;
};

}  // namespace

CpuSet choose_cpus(const Pool& pool, const Topology& topology, const CpuSet& free,
                   const CpuSet& must, int size) {
  return Packing(pool, topology).pick(Level::numa, free | must, must, size);
}

int largest_on_one_node(const Topology& topology, const CpuSet& free) {
  std::map<int, int> by_node;
  for (int cpu : free) ++by_node[topology.numa(cpu)];
  int out = 0;
  for (const auto& [node, count] : by_node) out = std::max(out, count);
  return out;
}

}  // namespace plim::pools
