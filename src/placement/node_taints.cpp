#include "placement/node_taints.hpp"

#include <algorithm>
#include <utility>

namespace plim::placement {
namespace {

bool same_taints(const std::vector<kube::Taint>& a, const std::vector<kube::Taint>& b) {
  return std::ranges::equal(a, b, [](const kube::Taint& x, const kube::Taint& y) {
    return x.key == y.key && x.value == y.value && x.effect == y.effect;
  });
}

}  // namespace

void NodeTaints::set(NodeIndex row, const std::vector<kube::Taint>& taints) {
  const std::uint32_t number = number_of(taints);
  tainted_ += std::size_t{number != 0} - std::size_t{by_row_[row] != 0};
  by_row_[row] = number;
}

std::uint32_t NodeTaints::number_of(const std::vector<kube::Taint>& taints) {
  auto found =
      std::ranges::find_if(sets_, [&](const auto& known) { return same_taints(known, taints); });
  if (found == sets_.end()) {
    if (sets_.size() > 2 * by_row_.size() + 64) forget_unused_sets();
    found = sets_.insert(sets_.end(), taints);
  }
  return static_cast<std::uint32_t>(found - sets_.begin());
}

// Some taints contain the time when they were set: without this their sets would pile up.
void NodeTaints::forget_unused_sets() {
  std::vector<std::vector<kube::Taint>> kept{{}};
  std::vector<std::uint32_t> moved(sets_.size(), 0);
  for (std::uint32_t& set : by_row_) {
    if (set != 0 && moved[set] == 0) {
      moved[set] = static_cast<std::uint32_t>(kept.size());
      kept.push_back(std::move(sets_[set]));
    }
    set = moved[set];
  }
  sets_ = std::move(kept);
}

}  // namespace plim::placement
