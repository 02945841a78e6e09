// What changed in a storage object, as far as it may help a waiting pod.
#pragma once

#include <string>

#include "placement/volume_table.hpp"

namespace plim::sched {

struct StorageEvent {
  std::string ns = {}, name = {};  // of the object; of a VolumeAttachment the attacher
  // True for a new object as well.
  bool helps_binding = true;  // VolumeBinding
  bool helps_limits = true;   // NodeVolumeLimits
  bool helps_zones = true;    // VolumeZone
};

// `before` is null for a new object.
StorageEvent change_of(const placement::VolumeClaim* before, const placement::VolumeClaim& now);
StorageEvent change_of(const placement::PersistentVolume* before,
                       const placement::PersistentVolume& now);
StorageEvent change_of(const placement::StorageClass* before, const placement::StorageClass& now);
StorageEvent change_of(const placement::CsiDriver* before, const placement::CsiDriver& now);
StorageEvent change_of(const placement::CsiNode* before, const placement::CsiNode& now);
StorageEvent change_of(const placement::StorageCapacity* before,
                       const placement::StorageCapacity& now);
StorageEvent change_of(const placement::VolumeAttachment* before,
                       const placement::VolumeAttachment& now);

}  // namespace plim::sched
