#include "sched/extender_set.hpp"

#include <algorithm>

namespace plim::sched {

ExtenderSet::ExtenderSet(std::shared_ptr<kube::Client> client, List extenders)
    : texts_(std::move(client)) {
  set(std::move(extenders));
}

void ExtenderSet::set(List extenders) {
  list_ = std::move(extenders);
  const auto any = [this](auto wants) { return std::ranges::any_of(*list_, wants); };
  texts_.want(any([](const auto& one) { return one->has_a_say(); }),
              any([](const auto& one) { return one->wants_whole_nodes(); }));
}

bool ExtenderSet::have_a_say(const kube::Pod& pod) const {
  return std::ranges::any_of(*list_, [&](const auto& one) { return one->has_a_say(pod); });
}

}  // namespace plim::sched
