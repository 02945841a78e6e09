// In-tree volumes whose work a CSI driver does: which driver, and under which name.
#pragma once

#include <string_view>

#include "base/json.hpp"
#include "kube/types.hpp"
#include "placement/storage_objects.hpp"

namespace plim::placement {

// `spec` is a volume of a pod or the spec of a PersistentVolume. The labels are those of the
// PersistentVolume.
VolumeSource in_tree_source(const json::value& spec, const kube::Labels& labels = {});

// The driver that provisions for an in-tree plugin: "ebs.csi.aws.com" for "kubernetes.io/aws-ebs".
// "" for other names, and for plugins that kube-scheduler does not count.
std::string_view driver_of_in_tree(std::string_view plugin);
// Whether there is a driver for the in-tree plugin, also one that kube-scheduler does not count.
bool is_migratable(std::string_view plugin);

// The node affinity of an in-tree volume with the labels that its CSI driver sets on nodes.
json::value csi_affinity(const PersistentVolume& volume);

}  // namespace plim::placement
