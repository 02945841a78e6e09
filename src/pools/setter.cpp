#include "pools/setter.hpp"

namespace plim::pools {
namespace {

// Each round gives up CPUs, or takes those that the round before freed.
constexpr int kMostRounds = 4;
constexpr int kToldAfter = 3;  // failures in a row
// How long a container may have no name: from the creation of its cgroup until its program runs,
// whose environment identifies it. Limited, because sandboxes never get a name.
constexpr Nanos kNamedWithin = std::chrono::seconds(2);
// The kubelet applies a resize after the API reports it. The runtime may then write the cpuset too.
constexpr Nanos kResizedWithin = std::chrono::minutes(1);

}  // namespace

Setter::Setter(CpusetTree tree, Clock& clock, Writing writing, SetterHooks hooks)
    : tree_(std::move(tree)), clock_(clock), writing_(writing), hooks_(std::move(hooks)) {}

std::vector<CpuSet> Setter::read_back(const std::vector<LiveContainer>& containers,
                                      std::vector<bool>& inherited) const {
  std::vector<CpuSet> out;
  out.reserve(containers.size());
  inherited.assign(containers.size(), false);
  for (std::size_t i = 0; i < containers.size(); ++i) {
    auto set = tree_.read(containers[i].path);
    inherited[i] = set && set->inherited;
    out.push_back(set ? std::move(set->cpus) : CpuSet());  // removed: empty
  }
  return out;
}

bool Setter::write(const LiveContainer& container, const CpuSet& cpus) {
  auto written = tree_.write(container.path, cpus);
  if (!written && written.error().code == Code::not_found) return true;  // the container has ended
  if (hooks_.on_write) hooks_.on_write(written.has_value());
  int& refusals = known_.at(container.path).refusals;
  refusals = written ? 0 : refusals + 1;
  if (refusals == kToldAfter && hooks_.on_refused)
    hooks_.on_refused(container, cpus, written.error());
  if (!written)
    log_.write(log::Level::warn, "pools", "cannot set the CPUs of a container",
               {{"pod", container.pod}, {"cpus", cpus.to_string()}, {"error", written.error()}});
  return written.has_value();
}

Setter::Outcome Setter::apply(const PoolState& state, std::vector<LiveContainer> containers) {
  Outcome out;
  CpusetPlan plan = plan_cpusets(state, containers);
  const CpuSet exclusive = state.guarded();
  std::vector<bool> inherited;
  std::vector<CpuSet> actual = read_back(containers, inherited);
  note_drift(containers, actual, plan.targets);
  std::vector<bool> refused(containers.size(), false);
  for (int round = 0; round < kMostRounds; ++round) {
    std::vector<CpusetWrite> writes = order_writes(actual, plan.targets, exclusive, refused);
    if (writes.empty())  // nothing was ever written there, so the set would follow the parent
      for (std::size_t i = 0; i < containers.size(); ++i)
        if (inherited[i] && !refused[i] && !plan.targets[i].cpus.empty() &&
            actual[i] == plan.targets[i].cpus)
          writes.push_back({i, plan.targets[i].cpus});
    if (writes.empty() || writing_ == Writing::only_look) break;
    for (const CpusetWrite& item : writes) {
      if (write(containers[item.container], item.cpus)) continue;
      refused[item.container] = true;
      out.settled = false;
    }
    actual = read_back(containers, inherited);
  }
  out.intruded = intruded_cpus(actual, plan.targets, exclusive);
  out.double_booked = double_bookings(state, containers, actual, plan.targets);
  note_right(containers, actual, plan.targets);
  for (const LiveContainer& container : containers)
    out.young |=
        container.nameless && clock_.steady() - known_.at(container.path).seen < kNamedWithin;
  out.notes = std::move(plan.notes);
  return out;
}

// A set may change after the containers were read, so `actual` counts too.
void Setter::note_drift(const std::vector<LiveContainer>& containers,
                        const std::vector<CpuSet>& actual,
                        const std::vector<CpusetTarget>& targets) {
  for (auto& [path, known] : known_) known.here = false;
  for (std::size_t i = 0; i < containers.size(); ++i) {
    auto [at, fresh] =
        known_.try_emplace(containers[i].path, Known{.seen = clock_.steady(), .right = {}});
    Known& known = at->second;
    known.here = true;
    if (!containers[i].resources.empty() && known.resources != containers[i].resources) {
      if (!known.resources.empty()) known.resized = clock_.steady();
      known.resources = containers[i].resources;
    }
    if (containers[i].resizing) known.resized = clock_.steady();
    if (fresh || !known.right) continue;
    const bool same_wish = *known.right == targets[i].cpus;
    const bool wanted = known.resized && clock_.steady() - *known.resized < kResizedWithin;
    const CpuSet& was = containers[i].actual != targets[i].cpus ? containers[i].actual : actual[i];
    const bool is_gone = actual[i].empty();
    if (same_wish && !wanted && !is_gone && was != targets[i].cpus && hooks_.on_drift)
      hooks_.on_drift(containers[i], was);
  }
  std::erase_if(known_, [](const auto& item) { return !item.second.here; });
}

void Setter::note_right(const std::vector<LiveContainer>& containers,
                        const std::vector<CpuSet>& actual,
                        const std::vector<CpusetTarget>& targets) {
  for (std::size_t i = 0; i < containers.size(); ++i) {
    Known& known = known_.at(containers[i].path);
    const bool right = !targets[i].cpus.empty() && actual[i] == targets[i].cpus;
    if (right && known.right != targets[i].cpus && hooks_.on_confined)
      hooks_.on_confined(containers[i], targets[i], clock_.steady() - known.seen);
    else if (right && known.name != containers[i].container && hooks_.on_renamed)
      hooks_.on_renamed(containers[i], targets[i]);
    if (!right) continue;
    known.right = targets[i].cpus;
    known.name = containers[i].container;
  }
}

}  // namespace plim::pools
