#include "sched/volume_binder.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <utility>

#include <fmt/format.h>

#include "kube/object.hpp"
#include "placement/volume_match.hpp"

namespace plim::sched {
namespace {

using namespace std::chrono_literals;
using placement::ClaimRef;
using placement::VolumeClaim;
using placement::VolumePlan;
using placement::VolumeTable;

// How soon a deleted pod or node is noticed, as with kube-scheduler.
constexpr Nanos kLookAgain = 1s;

const kube::Resource kVolumeKind{.group = "",
                                 .version = "v1",
                                 .plural = "persistentvolumes",
                                 .kind = "PersistentVolume",
                                 .namespaced = false};
const kube::Resource kClaimKind{.group = "",
                                .version = "v1",
                                .plural = "persistentvolumeclaims",
                                .kind = "PersistentVolumeClaim"};

std::uint64_t number_of(std::string_view version) {
  std::uint64_t out = 0;
  std::from_chars(version.data(), version.data() + version.size(), out);
  return out;
}

// The API server refuses the patch if the object is not the one that the decision has seen.
json::value volume_patch(const VolumePlan::Static& one) {
  json::object meta{{"resourceVersion", one.version}};
  if (!one.named) meta["annotations"] = {{"pv.kubernetes.io/bound-by-controller", "yes"}};
  return json::object{{"metadata", std::move(meta)},
                      {"spec",
                       {{"claimRef",
                         {{"apiVersion", "v1"},
                          {"kind", "PersistentVolumeClaim"},
                          {"namespace", one.claim.ns},
                          {"name", one.claim.name},
                          {"uid", one.claim.uid},
                          {"resourceVersion", one.claim_version}}}}}};
}

json::value claim_patch(const VolumePlan::Provision& one, const std::string& node) {
  return json::object{{"metadata",
                       {{"resourceVersion", one.version},
                        {"uid", one.claim.uid},
                        {"annotations", {{"volume.kubernetes.io/selected-node", node}}}}}};
}

Error waiting_failed(std::string_view why) {
  return fail(Code::internal, fmt::format("binding volumes: {}", why));
}

bool runs(const std::vector<PluginId>& plugins) {
  return std::ranges::find(plugins, PluginId::VolumeBinding) != plugins.end();
}

}  // namespace

VolumeBinder::VolumeBinder(const Executor& loop, std::shared_ptr<kube::Client> client,
                           SchedulerState& state, const kube::Store<kube::Pod>& pods, Clock& clock)
    : client_(std::move(client)),
      state_(state),
      pods_(pods),
      clock_(clock),
      changed_(loop),
      tasks_(loop) {}

Task<void> VolumeBinder::stop() {
  co_await tasks_.stop();
}

VolumePlan VolumeBinder::plan(const kube::Pod& pod, const Profile& profile,
                              const std::string& node) {
  if (pod.spec.volumes.empty() || !placement::uses_claims(pod)) return {};
  // Without its filter the plugin has chosen no volumes.
  if (!runs(profile.filter) || !runs(profile.reserve) || !runs(profile.pre_bind)) return {};
  return placement::plan_volumes(state_.engine().cluster(), pod, node);
}

void VolumeBinder::bind(Work work, Done done) {
  ++under_way_;
  state_.engine().volumes().reserve(work.plan, work.node);
  tasks_.spawn("bind the volumes of a pod", carry_out(std::move(work), std::move(done)));
}

Task<void> VolumeBinder::carry_out(Work work, Done done) {
  auto shared = std::make_shared<Work>(std::move(work));
  Result<void> out = co_await write(shared);
  if (out) out = co_await wait(shared);
  --under_way_;
  state_.engine().volumes().release(shared->plan);
  if (!out) {
    Error error = out.error();
    // Other codes mean something about the pod or the node, which this error is not about.
    error.code = Code::internal;
    error.message = fmt::format("running PreBind plugin \"VolumeBinding\": {}", error.message);
    out = std::move(error);
  }
  done(std::move(out));
}

Task<Result<void>> VolumeBinder::write(std::shared_ptr<Work> work) {
  for (VolumePlan::Static& one : work->plan.statics) {
    if (one.written) continue;
    kube::ObjectPath path{.ns = "", .name = one.volume, .subresource = ""};
    json::value patch = volume_patch(one);
    auto made = co_await client_->patch(kVolumeKind, std::move(path), kube::PatchType::merge,
                                        std::move(patch));
    if (!made) co_return made.error();
    one.version = kube::resource_version_of(*made);
  }
  for (VolumePlan::Provision& one : work->plan.provisions) {
    if (one.written) continue;
    kube::ObjectPath path{.ns = one.claim.ns, .name = one.claim.name, .subresource = ""};
    json::value patch = claim_patch(one, work->node);
    auto made = co_await client_->patch(kClaimKind, std::move(path), kube::PatchType::merge,
                                        std::move(patch));
    if (!made) co_return made.error();
    one.version = kube::resource_version_of(*made);
  }
  co_return Result<void>{};
}

Task<Result<void>> VolumeBinder::wait(std::shared_ptr<Work> work) {
  const SteadyTime deadline = clock_.steady() + work->timeout;
  for (;;) {
    auto bound = are_bound(*work);
    if (!bound) co_return waiting_failed(bound.error().message);
    if (*bound) co_return Result<void>{};
    const SteadyTime now = clock_.steady();
    if (now >= deadline) co_return waiting_failed("context deadline exceeded");
    (void)co_await changed_.wait_until(clock_, std::min(deadline, now + kLookAgain));
  }
}

Result<bool> VolumeBinder::are_bound(const Work& work) const {
  if (!state_.engine().cluster().table().find(work.node))
    return fail(Code::not_found,
                fmt::format("failed to get node \"{0}\": node \"{0}\" not found", work.node));
  const kube::ObjectMeta& meta = work.pod->meta;
  const PodPointer pod = pods_.find(kube::object_key(meta));
  if (!pod || pod->meta.uid != meta.uid)
    return fail(Code::not_found,
                fmt::format("pod does not exist any more: pod \"{}\" not found", meta.name));
  for (const VolumePlan::Static& one : work.plan.statics) {
    PLIM_TRY(const bool bound, is_bound(work, one));
    if (!bound) return false;
  }
  for (const VolumePlan::Provision& one : work.plan.provisions) {
    PLIM_TRY(const bool bound, is_bound(work, one));
    if (!bound) return false;
  }
  return true;
}

Result<void> VolumeBinder::check_affinity(const Work& work,
                                          const VolumeTable::Volume& volume) const {
  const auto& cluster = state_.engine().cluster();
  const auto row = cluster.table().find(work.node);
  if (row && cluster.volumes().fits_on(volume, *row)) return {};
  return fail(Code::invalid, fmt::format("pv \"{}\" node affinity doesn't match node \"{}\": no "
                                         "matching NodeSelectorTerms",
                                         volume.object.name, work.node));
}

Result<bool> VolumeBinder::is_bound(const Work& work, const VolumePlan::Static& one) const {
  const VolumeTable& volumes = state_.engine().cluster().volumes();
  const VolumeTable::Volume* volume = volumes.volume(one.volume);
  if (volume == nullptr)
    return fail(
        Code::not_found,
        fmt::format("failed to check binding: persistentvolumes \"{}\" not found", one.volume));
  const VolumeClaim* claim = volumes.claim(one.claim.ns, one.claim.name);
  if (claim == nullptr)
    return fail(Code::not_found,
                fmt::format("failed to check binding: persistentvolumeclaims \"{}/{}\" not found",
                            one.claim.ns, one.claim.name));
  if (number_of(volume->object.version) < number_of(one.version)) return false;
  PLIM_CHECK(check_affinity(work, *volume));
  if (!volume->object.claim || volume->object.claim->uid.empty())
    return fail(Code::conflict, fmt::format("ClaimRef got reset for pv \"{}\"", one.volume));
  return claim->fully_bound();
}

Result<bool> VolumeBinder::is_bound(const Work& work, const VolumePlan::Provision& one) const {
  const VolumeTable& volumes = state_.engine().cluster().volumes();
  const VolumeClaim* claim = volumes.claim(one.claim.ns, one.claim.name);
  if (claim == nullptr)
    return fail(
        Code::not_found,
        fmt::format("failed to check provisioning pvc: persistentvolumeclaims \"{}/{}\" not found",
                    one.claim.ns, one.claim.name));
  if (number_of(claim->version) < number_of(one.version)) return false;
  // A provisioner that fails removes the annotation, so that another node is tried.
  if (claim->selected_node != work.node)
    return fail(Code::conflict, fmt::format("provisioning failed for PVC \"{}\"", claim->name));
  if (!claim->volume.empty()) {
    const VolumeTable::Volume* volume = volumes.volume(claim->volume);
    if (volume == nullptr) return false;  // the watch has not shown it yet
    PLIM_CHECK(check_affinity(work, *volume));
  }
  return claim->fully_bound();
}

}  // namespace plim::sched
