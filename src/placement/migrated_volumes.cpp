#include "placement/migrated_volumes.hpp"

#include <algorithm>
#include <array>
#include <string>

#include <fmt/format.h>

#include "kube/selector.hpp"

namespace plim::placement {
namespace {

struct InTree {
  std::string_view field, id, plugin;
  std::string_view driver;    // "": never counted
  std::string_view zone_key;  // the driver's label on nodes
};

constexpr std::array<InTree, 7> kInTree{{
    {"awsElasticBlockStore", "volumeID", "kubernetes.io/aws-ebs", "ebs.csi.aws.com",
     "topology.ebs.csi.aws.com/zone"},
    {"gcePersistentDisk", "pdName", "kubernetes.io/gce-pd", "pd.csi.storage.gke.io",
     "topology.gke.io/zone"},
    {"azureDisk", "diskURI", "kubernetes.io/azure-disk", "disk.csi.azure.com",
     "topology.disk.csi.azure.com/zone"},
    {"cinder", "volumeID", "kubernetes.io/cinder", "cinder.csi.openstack.org",
     "topology.cinder.csi.openstack.org/zone"},
    {"portworxVolume", "volumeID", "kubernetes.io/portworx-volume", "pxd.portworx.com", ""},
    {"azureFile", "shareName", "kubernetes.io/azure-file", "", ""},
    {"vsphereVolume", "volumePath", "kubernetes.io/vsphere-volume", "", ""},
}};

constexpr std::string_view kZone = "topology.kubernetes.io/zone",
                           kRegion = "topology.kubernetes.io/region",
                           kOldZone = "failure-domain.beta.kubernetes.io/zone",
                           kOldRegion = "failure-domain.beta.kubernetes.io/region";

// "aws://zone/vol-1" and "vol-1" are the same volume.
std::string_view aws_volume(std::string_view id) {
  constexpr std::string_view kScheme = "aws://";
  if (!id.starts_with(kScheme)) return id;
  while (id.ends_with('/')) id.remove_suffix(1);
  return id.substr(id.rfind('/') + 1);
}

std::string gce_handle(std::string_view disk, const kube::Labels& labels) {
  std::string_view zones = kube::find_label(labels, kOldZone).value_or("");
  if (zones.empty()) zones = kube::find_label(labels, kZone).value_or("");
  const std::size_t end = zones.find("__");
  if (end == std::string_view::npos)
    return fmt::format("projects/UNSPECIFIED/zones/{}/disks/{}",
                       zones.empty() ? "UNSPECIFIED" : zones, disk);
  const std::string_view first = zones.substr(0, end);
  return fmt::format("projects/UNSPECIFIED/regions/{}/disks/{}", first.substr(0, first.rfind('-')),
                     disk);
}

json::array* terms_of(json::value& required) {
  if (!required.is_object()) return nullptr;
  json::value* terms = required.get_object().if_contains("nodeSelectorTerms");
  return terms != nullptr ? terms->if_array() : nullptr;
}

// Calls the function with every requirement on this label; returns how many there are.
template <class Visit>
std::size_t each_requirement(json::value& required, std::string_view key, Visit visit) {
  std::size_t found = 0;
  json::array* terms = terms_of(required);
  if (terms == nullptr) return 0;
  for (json::value& term : *terms) {
    json::value* list =
        term.is_object() ? term.get_object().if_contains("matchExpressions") : nullptr;
    if (list == nullptr || !list->is_array()) continue;
    for (json::value& one : list->get_array())
      if (text_at(one, {"key"}) == key) {
        visit(one.get_object());
        ++found;
      }
  }
  return found;
}

std::size_t replace_key(json::value& required, std::string_view key, std::string_view by) {
  return each_requirement(required, key, [&](json::object& one) { one["key"] = by; });
}

// From the volume's label, where several zones are written as "a__b".
json::object zone_requirement(std::string_view key, std::string_view zones) {
  json::array values;
  while (!zones.empty()) {
    const std::size_t end = std::min(zones.find("__"), zones.size());
    if (end > 0) values.emplace_back(zones.substr(0, end));
    zones.remove_prefix(std::min(end + 2, zones.size()));
  }
  return {{"key", key}, {"operator", "In"}, {"values", std::move(values)}};
}

void add_requirement(json::value& required, const json::object& wanted) {
  if (!required.is_object()) required = json::object();
  json::array* terms = terms_of(required);
  if (terms == nullptr)
    terms = &(required.get_object()["nodeSelectorTerms"] = json::array()).get_array();
  if (terms->empty()) terms->push_back(json::object());
  for (json::value& term : *terms) {
    json::value& list = term.get_object()["matchExpressions"];
    if (!list.is_array()) list = json::array();
    list.get_array().push_back(wanted);
  }
}

}  // namespace

VolumeSource in_tree_source(const json::value& spec, const kube::Labels& labels) {
  for (const InTree& one : kInTree) {
    if (find(spec, {one.field}) == nullptr) continue;
    const std::string_view id = text_at(spec, {one.field, one.id});
    VolumeSource out{.driver = std::string(one.driver), .in_tree = std::string(one.plugin)};
    if (one.driver.empty()) return out;
    if (one.field == "awsElasticBlockStore")
      out.handle = aws_volume(id);
    else if (one.field == "gcePersistentDisk")
      out.handle = gce_handle(id, labels);
    else
      out.handle = id;
    return out;
  }
  return {};
}

std::string_view driver_of_in_tree(std::string_view plugin) {
  const auto found = std::ranges::find(kInTree, plugin, &InTree::plugin);
  return found == kInTree.end() ? "" : found->driver;
}

bool is_migratable(std::string_view plugin) {
  return std::ranges::find(kInTree, plugin, &InTree::plugin) != kInTree.end();
}

json::value csi_affinity(const PersistentVolume& volume) {
  json::value out = volume.node_affinity;
  const auto found = std::ranges::find(kInTree, volume.source.in_tree, &InTree::plugin);
  if (found == kInTree.end() || found->zone_key.empty()) return out;
  const auto nothing = [](json::object&) {};
  const auto label = [&](std::string_view key) { return kube::find_label(volume.labels, key); };
  const bool in_affinity = each_requirement(out, kZone, nothing) > 0;
  const bool old_in_affinity = !in_affinity && each_requirement(out, kOldZone, nothing) > 0;
  const bool old = old_in_affinity || (!in_affinity && !label(kZone) && label(kOldZone));
  const std::string_view zone = old ? kOldZone : kZone;
  if (replace_key(out, zone, found->zone_key) == 0)
    if (const auto zones = label(zone); zones && !zones->empty())
      add_requirement(out, zone_requirement(found->zone_key, *zones));
  if (old) replace_key(out, kOldRegion, kRegion);
  return out;
}

}  // namespace plim::placement
