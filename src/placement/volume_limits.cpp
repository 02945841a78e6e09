// NodeVolumeLimits: how many volumes of a CSI driver a node can have attached.
#include <algorithm>

#include <fmt/format.h>

#include "base/json.hpp"
#include "placement/migrated_volumes.hpp"
#include "placement/plugins.hpp"

namespace plim::placement {
namespace {

// A volume as it counts on a node. In-tree volumes count only on nodes with a CSINode.
struct Counted {
  std::string driver, handle;
  bool in_tree = false;

  bool same(const Counted& other) const { return driver == other.driver && handle == other.handle; }
};

void add_counted(std::vector<Counted>& to, Counted one) {
  if (one.driver.empty() || one.handle.empty()) return;
  const auto same = [&](const Counted& other) { return other.same(one); };
  if (std::ranges::none_of(to, same)) to.push_back(std::move(one));
}

Counted counted_source(const VolumeSource& source) {
  return {source.driver, source.handle, !source.in_tree.empty()};
}

// By the claim's volume; until it has one, by its class and its own name.
Counted counted_claim(const VolumeClaim& claim, const VolumeTable& volumes) {
  if (!claim.volume.empty())
    if (const VolumeTable::Volume* volume = volumes.volume(claim.volume))
      return counted_source(volume->object.source);
  const StorageClass* made =
      claim.storage_class.empty() ? nullptr : volumes.storage_class(claim.storage_class);
  if (made == nullptr) return {};
  // No handle of a driver begins like this.
  std::string handle = fmt::format("\n{}/{}", claim.ns, claim.name);
  if (is_migratable(made->provisioner))
    return {std::string(driver_of_in_tree(made->provisioner)), std::move(handle), true};
  return {made->provisioner, std::move(handle), false};
}

// Claims that do not exist are left out.
std::vector<Counted> counted_volumes(const kube::Pod& pod, const VolumeTable& volumes) {
  std::vector<Counted> out;
  for (const kube::PodVolume& volume : pod.spec.volumes) {
    if (!volume.claim.empty() || volume.ephemeral) {
      if (const VolumeClaim* claim = volumes.claim(pod.meta.ns, claim_name(pod, volume)))
        add_counted(out, counted_claim(*claim, volumes));
    } else if (!volume.disk.empty()) {
      if (const auto disk = parse_json(volume.disk.view()))
        add_counted(out, counted_source(in_tree_source(*disk)));
    }
  }
  return out;
}

class VolumeLimitsFilter final : public FilterOf<VolumeLimitsFilter> {
 public:
  VolumeLimitsFilter(Cycle& cycle, std::vector<Counted> wanted)
      : cycle_(cycle),
        volumes_(cycle.cluster.volumes()),
        wanted_(std::move(wanted)),
        full_(cycle.verdicts.id_of(PluginId::NodeVolumeLimits, RejectCode::unschedulable,
                                   "node(s) exceed max volume count")) {
    if (!cycle.profile.release.scales_volume_limits()) return;
    std::ranges::sort(wanted_, {}, &Counted::driver);
    for (const Counted& one : wanted_) {
      const CsiDriver* driver = volumes_.csi().driver(one.driver);
      if (driver == nullptr || !driver->prevent_if_missing) continue;
      strict_.emplace_back(
          &one, cycle.verdicts.id_of(
                    PluginId::NodeVolumeLimits, RejectCode::unschedulable,
                    fmt::format("{} CSI driver is not installed on the node", one.driver)));
    }
  }

  Verdict judge(NodeIndex row) const {
    const CsiNode* node = volumes_.csi().node(cycle_.cluster.table().name(row));
    for (const auto& [one, missing] : strict_)
      if (counts(*one, node) && (node == nullptr || !node->has(one->driver))) return missing;
    if (node == nullptr) return kFits;
    const auto limited = [&](const CsiNode::Driver& driver) {
      return driver.limit && std::ranges::any_of(wanted_, [&](const Counted& one) {
               return one.driver == driver.name;
             });
    };
    const std::int64_t most = most_volumes(row);
    if (std::ranges::none_of(node->drivers, [&](const CsiNode::Driver& driver) {
          return limited(driver) && most > *driver.limit;
        }))
      return kFits;
    const std::vector<Counted> used = volumes_of_pods(row), left = left_attached(row, used);
    for (const CsiNode::Driver& driver : node->drivers)
      if (limited(driver) && exceeds(driver, used, left)) return full_;
    return kFits;
  }

  void pod_moved(const PodRecord& record, NodeIndex row, int sign) override {
    if (record.pod->spec.volumes.empty()) return;
    auto& undone = sign < 0 ? here_ : away_;
    const std::pair<const PodRecord*, NodeIndex> one(&record, row);
    if (const auto at = std::ranges::find(undone, one); at != undone.end())
      undone.erase(at);
    else
      (sign < 0 ? away_ : here_).push_back(one);
  }

 private:
  static bool counts(const Counted& one, const CsiNode* node) {
    return !one.in_tree || node != nullptr;
  }

  // How many volumes the node would have if no two pods shared one. Nearly all nodes have room for
  // that many, so that nobody has to look at their pods.
  std::int64_t most_volumes(NodeIndex row) const {
    auto out = volumes_.uses_on(row) + static_cast<std::int64_t>(wanted_.size());
    out += static_cast<std::int64_t>(
        volumes_.csi().attachments_on(cycle_.cluster.table().name(row)).size());
    for (const auto& [record, at] : here_)
      if (at == row) out += static_cast<std::int64_t>(record->pod->spec.volumes.size());
    return out;
  }

  std::vector<Counted> volumes_of_pods(NodeIndex row) const {
    std::vector<Counted> out;
    const auto add = [&](const kube::Pod& pod) {
      for (Counted& one : counted_volumes(pod, volumes_)) add_counted(out, std::move(one));
    };
    for (const auto& there : cycle_.cluster.pods().on(row))
      if (!there->pod->spec.volumes.empty() && !is_among(away_, there.get(), row)) add(*there->pod);
    for (const auto& [record, at] : here_)
      if (at == row) add(*record->pod);
    return out;
  }

  // Volumes that are attached to the node although no pod there uses them.
  std::vector<Counted> left_attached(NodeIndex row, const std::vector<Counted>& used) const {
    std::vector<Counted> out;
    for (const VolumeAttachment& one :
         volumes_.csi().attachments_on(cycle_.cluster.table().name(row))) {
      const VolumeTable::Volume* volume =
          one.volume.empty() ? nullptr : volumes_.volume(one.volume);
      if (volume == nullptr || !volume->object.source.in_tree.empty()) continue;
      Counted made{one.attacher, volume->object.source.handle, false};
      if (!is_counted(used, made)) add_counted(out, std::move(made));
    }
    return out;
  }

  static bool is_counted(const std::vector<Counted>& among, const Counted& one) {
    return std::ranges::any_of(among, [&](const Counted& other) { return other.same(one); });
  }

  // As with kube-scheduler, a volume that is only left attached counts again for the pod.
  bool exceeds(const CsiNode::Driver& driver, const std::vector<Counted>& used,
               const std::vector<Counted>& left) const {
    const auto of_driver = [&](const Counted& one) { return one.driver == driver.name; };
    const auto fresh = std::ranges::count_if(
        wanted_, [&](const Counted& one) { return of_driver(one) && !is_counted(used, one); });
    return fresh > 0 &&
           fresh + std::ranges::count_if(used, of_driver) + std::ranges::count_if(left, of_driver) >
               *driver.limit;
  }

  using Moved = std::vector<std::pair<const PodRecord*, NodeIndex>>;

  static bool is_among(const Moved& moved, const PodRecord* record, NodeIndex row) {
    return !moved.empty() &&
           std::ranges::find(moved, Moved::value_type(record, row)) != moved.end();
  }

  Cycle& cycle_;
  const VolumeTable& volumes_;
  std::vector<Counted> wanted_;
  // Volumes whose driver must be installed, with the verdict if it is not.
  std::vector<std::pair<const Counted*, Verdict>> strict_;
  Moved away_, here_;  // pods that are imagined away from a node, or onto it
  Verdict full_;
};

// Rejects every node: a claim of the pod does not exist.
class NoClaimFilter final : public FilterOf<NoClaimFilter> {
 public:
  explicit NoClaimFilter(Verdict refused) : refused_(refused) {}

  Verdict judge(NodeIndex) const { return refused_; }

 private:
  Verdict refused_;
};

}  // namespace

std::unique_ptr<Filter> make_volume_limits_filter(Cycle& cycle) {
  const kube::Pod& pod = cycle.in.pod;
  if (pod.spec.volumes.empty()) return nullptr;
  const VolumeTable& volumes = cycle.cluster.volumes();
  for (const kube::PodVolume& volume : pod.spec.volumes) {
    if (volume.claim.empty() && !volume.ephemeral) continue;
    const std::string name = claim_name(pod, volume);
    if (volumes.claim(pod.meta.ns, name) != nullptr) continue;
    return std::make_unique<NoClaimFilter>(cycle.verdicts.id_of(
        PluginId::NodeVolumeLimits, RejectCode::unresolvable,
        fmt::format("looking up PVC {}/{}: persistentvolumeclaim \"{}\" not found",
                    pod.meta.ns.view(), name, name)));
  }
  std::vector<Counted> wanted = counted_volumes(pod, volumes);
  if (wanted.empty()) return nullptr;
  return std::make_unique<VolumeLimitsFilter>(cycle, std::move(wanted));
}

}  // namespace plim::placement
