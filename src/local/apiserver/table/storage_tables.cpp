#include <fmt/format.h>

#include "local/apiserver/table/cells.hpp"
#include "local/apiserver/table/views.hpp"

namespace plim::local::apiserver {
namespace {

using namespace cells;

constexpr TableColumn kAccessModes{.name = "Access Modes",
                                   .description = "How the volume can be mounted"};
constexpr TableColumn kStorageClassName{.name = "StorageClass",
                                        .description = "Class of the storage"};
constexpr TableColumn kAttributesClass{.name = "VolumeAttributesClass",
                                       .description = "Class of changeable properties"};
constexpr TableColumn kVolumeMode{
    .name = "VolumeMode", .description = "File system or raw device", .priority = 1};

std::string access_modes(const json::array& modes) {
  std::vector<std::string> out;
  constexpr std::pair<std::string_view, std::string_view> kShort[] = {
      {"ReadWriteOnce", "RWO"},
      {"ReadOnlyMany", "ROX"},
      {"ReadWriteMany", "RWX"},
      {"ReadWriteOncePod", "RWOP"},
  };
  for (const auto& [mode, short_name] : kShort)
    for (const json::value& value : modes)
      if (value.is_string() && value.get_string() == mode) {
        out.emplace_back(short_name);
        break;
      }
  return join(out);
}

constexpr TableColumn kPersistentVolumeColumns[] = {
    kName,
    {.name = "Capacity", .description = "Size of the volume"},
    kAccessModes,
    {.name = "Reclaim Policy", .description = "What happens to it when its claim is deleted"},
    {.name = "Status", .description = "Whether it is bound"},
    {.name = "Claim", .description = "Claim it is bound to"},
    kStorageClassName,
    kAttributesClass,
    {.name = "Reason", .description = "Why it failed"},
    kAge,
    kVolumeMode,
};

json::array persistent_volume_cells(const json::value& volume, WallTime now) {
  std::string claim;
  if (kube::find(volume, "PersistentVolume.spec.claimRef"))
    claim = text(volume, "PersistentVolume.spec.claimRef.namespace") + "/" +
            text(volume, "PersistentVolume.spec.claimRef.name");
  std::string status = text(volume, "PersistentVolume.status.phase");
  if (kube::find(volume, "PersistentVolume.metadata.deletionTimestamp")) status = "Terminating";
  return {name(volume),
          scalar(volume, "PersistentVolume.spec.capacity.storage"),
          access_modes(list(volume, "PersistentVolume.spec.accessModes")),
          text(volume, "PersistentVolume.spec.persistentVolumeReclaimPolicy"),
          status,
          claim,
          text(volume, "PersistentVolume.spec.storageClassName"),
          text(volume, "PersistentVolume.spec.volumeAttributesClassName", "<unset>"),
          text(volume, "PersistentVolume.status.reason"),
          age(volume, now),
          text(volume, "PersistentVolume.spec.volumeMode", "<unset>")};
}

constexpr TableColumn kPersistentVolumeClaimColumns[] = {
    kName,
    {.name = "Status", .description = "Whether it is bound"},
    {.name = "Volume", .description = "Volume it is bound to"},
    {.name = "Capacity", .description = "Size of the volume"},
    kAccessModes,
    kStorageClassName,
    kAttributesClass,
    kAge,
    kVolumeMode,
};

json::array persistent_volume_claim_cells(const json::value& claim, WallTime now) {
  std::string status = text(claim, "PersistentVolumeClaim.status.phase");
  if (kube::find(claim, "PersistentVolumeClaim.metadata.deletionTimestamp")) status = "Terminating";
  const std::string volume = text(claim, "PersistentVolumeClaim.spec.volumeName");
  return {
      name(claim),
      status,
      volume,
      volume.empty() ? "" : scalar(claim, "PersistentVolumeClaim.status.capacity.storage"),
      volume.empty() ? "" : access_modes(list(claim, "PersistentVolumeClaim.status.accessModes")),
      text(claim, "PersistentVolumeClaim.spec.storageClassName"),
      text(claim, "PersistentVolumeClaim.spec.volumeAttributesClassName", "<unset>"),
      age(claim, now),
      text(claim, "PersistentVolumeClaim.spec.volumeMode", "<unset>")};
}

constexpr TableColumn kStorageClassColumns[] = {
    kName,
    {.name = "Provisioner", .description = "Provisioner of its volumes"},
    {.name = "ReclaimPolicy", .description = "What happens to volumes when their claim is deleted"},
    {.name = "VolumeBindingMode", .description = "When volumes are bound"},
    {.name = "AllowVolumeExpansion", .description = "Whether volumes may grow"},
    kAge,
};

json::array storage_class_cells(const json::value& object, WallTime now) {
  const json::object& annotations = members(object, "StorageClass.metadata.annotations");
  auto marked = [&annotations](std::string_view key) {
    const json::value* found = annotations.if_contains(key);
    return found && *found == "true";
  };
  const bool is_default = marked("storageclass.kubernetes.io/is-default-class") ||
                          marked("storageclass.beta.kubernetes.io/is-default-class");
  return {name(object) + (is_default ? " (default)" : ""),
          text(object, "StorageClass.provisioner"),
          text(object, "StorageClass.reclaimPolicy", "Delete"),
          text(object, "StorageClass.volumeBindingMode", "Immediate"),
          kube::bool_at(object, "StorageClass.allowVolumeExpansion"),
          age(object, now)};
}

constexpr TableColumn kCsiNodeColumns[] = {
    kName,
    {.name = "Drivers", .type = "integer", .description = "Storage drivers on the node"},
    kAge,
};

json::array csi_node_cells(const json::value& node, WallTime now) {
  return {name(node), size(node, "CSINode.spec.drivers"), age(node, now)};
}

constexpr TableColumn kCsiDriverColumns[] = {
    kName,
    {.name = "AttachRequired", .type = "boolean", .description = "Whether volumes are attached"},
    {.name = "PodInfoOnMount",
     .type = "boolean",
     .description = "Whether it gets the names of pods"},
    {.name = "StorageCapacity", .type = "boolean", .description = "Whether it reports capacity"},
    {.name = "TokenRequests", .description = "Audiences of tokens it gets"},
    {.name = "RequiresRepublish", .type = "boolean", .description = "Whether it mounts again"},
    {.name = "Modes", .description = "Life cycles of its volumes"},
    kAge,
};

json::array csi_driver_cells(const json::value& driver, WallTime now) {
  std::vector<std::string> tokens;
  for (const json::value& request : list(driver, "CSIDriver.spec.tokenRequests"))
    tokens.push_back(text(request, "StorageTokenRequest.audience"));
  std::vector<std::string> modes;
  for (const json::value& mode : list(driver, "CSIDriver.spec.volumeLifecycleModes"))
    if (mode.is_string()) modes.emplace_back(mode.get_string());
  const json::value* attach = kube::find(driver, "CSIDriver.spec.attachRequired");
  return {name(driver),
          !attach || !attach->is_bool() || attach->get_bool(),
          kube::bool_at(driver, "CSIDriver.spec.podInfoOnMount"),
          kube::bool_at(driver, "CSIDriver.spec.storageCapacity"),
          tokens.empty() ? "<unset>" : join(tokens),
          kube::bool_at(driver, "CSIDriver.spec.requiresRepublish"),
          modes.empty() ? "<none>" : join(modes),
          age(driver, now)};
}

constexpr TableColumn kVolumeAttachmentColumns[] = {
    kName,
    {.name = "Attacher", .description = "Driver that attaches it"},
    {.name = "PV", .description = "Volume"},
    {.name = "Node", .description = "Node it is attached to"},
    {.name = "Attached", .type = "boolean", .description = "Whether it is there"},
    kAge,
};

json::array volume_attachment_cells(const json::value& object, WallTime now) {
  return {name(object),
          text(object, "VolumeAttachment.spec.attacher"),
          text(object, "VolumeAttachment.spec.source.persistentVolumeName"),
          text(object, "VolumeAttachment.spec.nodeName"),
          kube::bool_at(object, "VolumeAttachment.status.attached"),
          age(object, now)};
}

}  // namespace

const TableView kPersistentVolumeView{.columns = kPersistentVolumeColumns,
                                      .cells = persistent_volume_cells};
const TableView kPersistentVolumeClaimView{.columns = kPersistentVolumeClaimColumns,
                                           .cells = persistent_volume_claim_cells};
const TableView kStorageClassView{.columns = kStorageClassColumns, .cells = storage_class_cells};
const TableView kCsiNodeView{.columns = kCsiNodeColumns, .cells = csi_node_cells};
const TableView kCsiDriverView{.columns = kCsiDriverColumns, .cells = csi_driver_cells};
const TableView kVolumeAttachmentView{.columns = kVolumeAttachmentColumns,
                                      .cells = volume_attachment_cells};

}  // namespace plim::local::apiserver
