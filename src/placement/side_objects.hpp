// Reads storage objects and disruption budgets from JSON.
#pragma once

#include "base/json.hpp"
#include "kube/types.hpp"
#include "placement/preempt.hpp"
#include "placement/storage_objects.hpp"

namespace plim::placement {

VolumeClaim read_claim(const kube::ObjectMeta& meta, const json::value& object);
PersistentVolume read_volume(const kube::ObjectMeta& meta, const json::value& object);
StorageClass read_class(const kube::ObjectMeta& meta, const json::value& object);
CsiDriver read_driver(const kube::ObjectMeta& meta, const json::value& object);
CsiNode read_csi_node(const kube::ObjectMeta& meta, const json::value& object);
StorageCapacity read_capacity(const kube::ObjectMeta& meta, const json::value& object);
VolumeAttachment read_attachment(const kube::ObjectMeta& meta, const json::value& object);
DisruptionBudget read_budget(const kube::ObjectMeta& meta, const json::value& object);

}  // namespace plim::placement
