// Reads storage objects and disruption budgets from JSON.
#pragma once

#include "base/json.hpp"
#include "kube/types.hpp"
#include "placement/preempt.hpp"
#include "placement/volume_table.hpp"

namespace plim::placement {

VolumeClaim read_claim(const kube::ObjectMeta& meta, const json::value& object);
PersistentVolume read_volume(const kube::ObjectMeta& meta, const json::value& object);
StorageClass read_class(const kube::ObjectMeta& meta, const json::value& object);
DisruptionBudget read_budget(const kube::ObjectMeta& meta, const json::value& object);

}  // namespace plim::placement
