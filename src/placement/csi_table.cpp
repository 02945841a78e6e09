#include "placement/csi_table.hpp"

#include <algorithm>

namespace plim::placement {
namespace {

template <class Value, class Is>
void csi_remove(TextMap<std::vector<Value>>& groups, std::string_view group, Is is) {
  auto at = groups.find(group);
  if (at == groups.end()) return;
  std::erase_if(at->second, is);
  if (at->second.empty()) groups.erase(at);
}

template <class Value>
const Value* csi_find(const TextMap<Value>& map, std::string_view key) {
  const auto at = map.find(key);
  return at == map.end() ? nullptr : &at->second;
}

}  // namespace

bool CsiNode::has(std::string_view driver) const {
  return std::ranges::find(drivers, driver, &Driver::name) != drivers.end();
}

bool CsiNode::has_migrated(std::string_view in_tree) const {
  std::string_view rest = migrated;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find(','), rest.size());
    if (rest.substr(0, end) == in_tree) return true;
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return false;
}

void CsiTable::set_driver(const CsiDriver& driver) {
  drivers_.insert_or_assign(driver.name, driver);
}

void CsiTable::remove_driver(std::string_view name) {
  drivers_.erase(std::string(name));
}

void CsiTable::set_node(const CsiNode& node) {
  nodes_.insert_or_assign(node.name, node);
}

void CsiTable::remove_node(std::string_view name) {
  nodes_.erase(std::string(name));
}

void CsiTable::set_capacity(const StorageCapacity& capacity) {
  remove_capacity(capacity);
  capacities_[capacity.storage_class].push_back(capacity);
  class_of_capacity_.emplace(capacity.key, capacity.storage_class);
}

// The class of an object never changes, but another object may follow under the same name.
void CsiTable::remove_capacity(const StorageCapacity& capacity) {
  const auto known = class_of_capacity_.find(capacity.key);
  if (known == class_of_capacity_.end()) return;
  csi_remove(capacities_, known->second,
             [&](const StorageCapacity& one) { return one.key == capacity.key; });
  class_of_capacity_.erase(known);
}

void CsiTable::set_attachment(const VolumeAttachment& attachment) {
  remove_attachment(attachment);  // the node of an object never changes
  attachments_[attachment.node].push_back(attachment);
}

void CsiTable::remove_attachment(const VolumeAttachment& attachment) {
  csi_remove(attachments_, attachment.node,
             [&](const VolumeAttachment& one) { return one.name == attachment.name; });
}

const CsiDriver* CsiTable::driver(std::string_view name) const {
  return csi_find(drivers_, name);
}

const CsiNode* CsiTable::node(std::string_view name) const {
  return csi_find(nodes_, name);
}

std::span<const StorageCapacity> CsiTable::capacities_of_class(std::string_view name) const {
  const auto* found = csi_find(capacities_, name);
  if (found == nullptr) return {};
  return *found;
}

std::span<const VolumeAttachment> CsiTable::attachments_on(std::string_view node) const {
  const auto* found = csi_find(attachments_, node);
  if (found == nullptr) return {};
  return *found;
}

}  // namespace plim::placement
