#include "placement/storage_objects.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "kube/object.hpp"
#include "kube/paths.hpp"
#include "placement/migrated_volumes.hpp"
#include "placement/side_objects.hpp"

namespace plim::placement {
namespace {

constexpr std::string_view kOldClass = "volume.beta.kubernetes.io/storage-class";

std::optional<std::string> annotation(const json::value& object, std::string_view key) {
  const json::value* found = kube::find(object, "Object.metadata.annotations", key);
  if (found == nullptr || !found->is_string()) return std::nullopt;
  return std::string(found->get_string());
}

// A quantity is text, or a number in a file that a person wrote.
std::optional<Quantity> quantity(const json::value* value) {
  if (value == nullptr) return std::nullopt;
  const std::string text = value->is_string() ? std::string(value->get_string()) : to_json(*value);
  const auto made = parse_quantity(text);
  return made ? std::optional(*made) : std::nullopt;
}

std::optional<kube::LabelSelector> selector(const json::value* value) {
  if (value == nullptr || value->is_null()) return std::nullopt;
  auto made = kube::LabelSelector::from_json(*value);
  return made ? std::move(*made) : kube::LabelSelector::nothing();
}

VolumeSource read_source(const json::value& object, const kube::Labels& labels) {
  const json::value* spec = kube::find(object, "PersistentVolume.spec");
  if (spec == nullptr) return {};
  if (kube::find(*spec, "PersistentVolumeSpec.csi") == nullptr)
    return in_tree_source(*spec, labels);
  return {.driver = std::string(kube::text_at(*spec, "PersistentVolumeSpec.csi.driver")),
          .handle = std::string(kube::text_at(*spec, "PersistentVolumeSpec.csi.volumeHandle"))};
}

}  // namespace

VolumeClaim read_claim(const kube::ObjectMeta& meta, const json::value& object) {
  VolumeClaim out{.ns = std::string(meta.ns), .name = meta.name};
  out.volume = kube::text_at(object, "PersistentVolumeClaim.spec.volumeName");
  out.storage_class = kube::text_at(object, "PersistentVolumeClaim.spec.storageClassName");
  if (auto old = annotation(object, kOldClass)) out.storage_class = std::move(*old);
  out.bound = annotation(object, "pv.kubernetes.io/bind-completed").has_value();
  out.lost = kube::text_at(object, "PersistentVolumeClaim.status.phase") == "Lost";
  out.deleted = meta.deleted.has_value();
  out.access_modes = kube::texts_at(object, "PersistentVolumeClaim.spec.accessModes");
  out.once_pod = std::ranges::find(out.access_modes, "ReadWriteOncePod") != out.access_modes.end();
  out.block = kube::text_at(object, "PersistentVolumeClaim.spec.volumeMode") == "Block";
  out.uid = meta.uid;
  out.version = meta.resource_version;
  out.request =
      quantity(kube::find(object, "PersistentVolumeClaim.spec.resources.requests", "storage"));
  out.selector = selector(kube::find(object, "PersistentVolumeClaim.spec.selector"));
  out.attributes_class =
      kube::text_at(object, "PersistentVolumeClaim.spec.volumeAttributesClassName");
  out.selected_node = annotation(object, "volume.kubernetes.io/selected-node");
  if (const auto owner = kube::controller_of(object)) out.controller = owner->uid;
  return out;
}

PersistentVolume read_volume(const kube::ObjectMeta& meta, const json::value& object) {
  PersistentVolume out{.name = meta.name, .labels = meta.labels};
  if (const auto* required = kube::find(object, "PersistentVolume.spec.nodeAffinity.required"))
    out.node_affinity = *required;
  out.version = meta.resource_version;
  out.capacity = quantity(kube::find(object, "PersistentVolume.spec.capacity", "storage"))
                     .value_or(Quantity());
  out.access_modes = kube::texts_at(object, "PersistentVolume.spec.accessModes");
  out.block = kube::text_at(object, "PersistentVolume.spec.volumeMode") == "Block";
  out.available = kube::text_at(object, "PersistentVolume.status.phase") == "Available";
  out.deleted = meta.deleted.has_value();
  out.storage_class = kube::text_at(object, "PersistentVolume.spec.storageClassName");
  if (auto old = annotation(object, kOldClass)) out.storage_class = std::move(*old);
  out.attributes_class = kube::text_at(object, "PersistentVolume.spec.volumeAttributesClassName");
  if (const auto* claim = kube::find(object, "PersistentVolume.spec.claimRef");
      claim != nullptr && claim->is_object())
    out.claim = ClaimRef{std::string(kube::text_at(*claim, "ObjectReference.namespace")),
                         std::string(kube::text_at(*claim, "ObjectReference.name")),
                         std::string(kube::text_at(*claim, "ObjectReference.uid"))};
  out.source = read_source(object, meta.labels);
  return out;
}

StorageClass read_class(const kube::ObjectMeta& meta, const json::value& object) {
  StorageClass out{.name = meta.name};
  out.waits_for_consumer =
      kube::text_at(object, "StorageClass.volumeBindingMode") == "WaitForFirstConsumer";
  out.provisioner = kube::text_at(object, "StorageClass.provisioner");
  for (const json::value& given : kube::list_at(object, "StorageClass.allowedTopologies")) {
    StorageClass::TopologyTerm& term = out.topologies.emplace_back();
    for (const json::value& one :
         kube::list_at(given, "TopologySelectorTerm.matchLabelExpressions"))
      term.emplace_back(kube::text_at(one, "TopologySelectorLabelRequirement.key"),
                        kube::texts_at(one, "TopologySelectorLabelRequirement.values"));
  }
  return out;
}

CsiDriver read_driver(const kube::ObjectMeta& meta, const json::value& object) {
  return {
      .name = meta.name,
      .storage_capacity = kube::bool_at(object, "CSIDriver.spec.storageCapacity"),
      .prevent_if_missing = kube::bool_at(object, "CSIDriver.spec.preventPodSchedulingIfMissing")};
}

CsiNode read_csi_node(const kube::ObjectMeta& meta, const json::value& object) {
  CsiNode out{.name = meta.name};
  for (const json::value& one : kube::list_at(object, "CSINode.spec.drivers"))
    out.drivers.push_back({std::string(kube::text_at(one, "CSINodeDriver.name")),
                           kube::int_at(one, "CSINodeDriver.allocatable.count")});
  out.migrated = annotation(object, "storage.alpha.kubernetes.io/migrated-plugins").value_or("");
  return out;
}

StorageCapacity read_capacity(const kube::ObjectMeta& meta, const json::value& object) {
  return {
      .key = fmt::format("{}/{}", meta.ns.view(), meta.name),
      .storage_class = std::string(kube::text_at(object, "CSIStorageCapacity.storageClassName")),
      .nodes = selector(kube::find(object, "CSIStorageCapacity.nodeTopology")),
      .capacity = quantity(kube::find(object, "CSIStorageCapacity.capacity")),
      .largest = quantity(kube::find(object, "CSIStorageCapacity.maximumVolumeSize"))};
}

VolumeAttachment read_attachment(const kube::ObjectMeta& meta, const json::value& object) {
  return {.name = meta.name,
          .node = std::string(kube::text_at(object, "VolumeAttachment.spec.nodeName")),
          .attacher = std::string(kube::text_at(object, "VolumeAttachment.spec.attacher")),
          .volume = std::string(
              kube::text_at(object, "VolumeAttachment.spec.source.persistentVolumeName"))};
}

}  // namespace plim::placement
