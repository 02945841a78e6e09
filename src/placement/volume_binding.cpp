// VolumeBinding: nodes where the pod's volumes are or can be made, and how much storage they have.
#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "placement/plugins.hpp"
#include "placement/shape.hpp"
#include "placement/volume_match.hpp"

namespace plim::placement {
namespace {

class VolumeBindingFilter final : public FilterOf<VolumeBindingFilter> {
 public:
  VolumeBindingFilter(Cycle& cycle, std::shared_ptr<const VolumeMatcher> matcher)
      : cycle_(cycle), matcher_(std::move(matcher)) {}

  Verdict judge(NodeIndex row) {
    const VolumeMatcher::Judgement judged = matcher_->judge(row, choice_);
    return judged.fits() ? kFits : verdict_of(judged);
  }

 private:
  // The same few combinations occur on all nodes.
  Verdict verdict_of(const VolumeMatcher::Judgement& judged) {
    const unsigned which = unsigned{!judged.bound_match} | unsigned{!judged.unbound_match} << 1 |
                           unsigned{!judged.enough_storage} << 2 |
                           unsigned{!judged.bound_exist} << 3;
    Verdict& known = known_[which];
    if (known != kFits) return known;
    std::vector<std::string> reasons;
    if (!judged.bound_match)
      reasons.emplace_back("node(s) didn't match PersistentVolume's node affinity");
    if (!judged.unbound_match)
      reasons.emplace_back("node(s) didn't find available persistent volumes to bind");
    if (!judged.enough_storage) reasons.emplace_back("node(s) did not have enough free storage");
    if (!judged.bound_exist)
      reasons.emplace_back(
          "node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)");
    known = cycle_.verdicts.id_of(
        {PluginId::VolumeBinding, RejectCode::unresolvable, std::move(reasons)});
    return known;
  }

  Cycle& cycle_;
  std::shared_ptr<const VolumeMatcher> matcher_;
  VolumeMatcher::Choice choice_;
  std::array<Verdict, 16> known_{};
};

struct StorageUse {
  std::int64_t requested = 0, capacity = 0;
};

// Chosen volumes count against their own size; without any, volumes to be made count against what
// the driver has left.
std::map<std::string_view, StorageUse> storage_use(const VolumeMatcher::Choice& choice) {
  std::map<std::string_view, StorageUse> out;
  for (const auto& [claim, volume] : choice.taken) {
    StorageUse& use = out[volume->object.storage_class];
    use.requested += claim->request.value_or(Quantity()).value();
    use.capacity += volume->object.capacity.value();
  }
  if (!choice.taken.empty()) return out;
  for (const auto& [claim, from] : choice.made) {
    if (from == nullptr) continue;
    StorageUse& use = out[claim->storage_class];
    use.capacity = from->capacity.value_or(Quantity()).value();
    use.requested += claim->request.value_or(Quantity()).value();
  }
  return out;
}

std::int64_t storage_score(const VolumeMatcher::Choice& choice,
                           const std::vector<ShapePoint>& shape) {
  const std::map<std::string_view, StorageUse> uses = storage_use(choice);
  if (uses.empty()) return 0;
  std::int64_t sum = 0;
  for (const auto& [name, use] : uses) {
    const bool full = use.capacity == 0 || use.requested > use.capacity;
    sum += score_on_shape(shape, full ? 100 : use.requested * 100 / use.capacity);
  }
  return std::llround(static_cast<double>(sum) / static_cast<double>(uses.size()));
}

}  // namespace

std::unique_ptr<Filter> make_volume_binding_filter(Cycle& cycle) {
  if (!uses_claims(cycle.in.pod)) return nullptr;
  PodClaims claims = claims_of(cycle.in.pod, cycle.cluster.volumes());
  if (!claims.wrong.empty()) {
    cycle.failure = {PluginId::VolumeBinding, RejectCode::unresolvable, std::move(claims.wrong)};
    return nullptr;
  }
  auto matcher = std::make_shared<const VolumeMatcher>(cycle.cluster, std::move(claims));
  if (matcher->any_waits()) cycle.volumes = matcher;
  return std::make_unique<VolumeBindingFilter>(cycle, std::move(matcher));
}

bool score_volume_binding(Cycle& cycle, std::span<const NodeIndex> rows, ScoreColumn& out) {
  if (!cycle.profile.release.scores_storage()) return false;
  if (!cycle.volumes) {
    out.flat = true;
    out.raw = out.normalized = {0};
    return true;
  }
  VolumeMatcher::Choice choice;
  out.raw.reserve(rows.size());
  for (const NodeIndex row : rows) {
    (void)cycle.volumes->judge(row, choice);
    out.raw.push_back(storage_score(choice, cycle.profile.volumes.shape));
  }
  out.normalized = out.raw;
  return true;
}

}  // namespace plim::placement
