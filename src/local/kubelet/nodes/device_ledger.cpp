#include "local/kubelet/nodes/device_ledger.hpp"

#include <algorithm>

#include "base/base64.hpp"
#include "base/text.hpp"

namespace plim::local::kubelet {
namespace {

DeviceIds texts_of(const json::value* list) {
  DeviceIds out;
  if (!list || !list->is_array()) return out;
  for (const json::value& item : list->get_array())
    if (item.is_string()) out.emplace_back(item.get_string());
  return out;
}

}  // namespace

DeviceIds Holding::ids() const {
  std::set<std::string> out;  // a device may have several NUMA nodes
  for (const auto& [numa, ids] : ids_by_numa) out.insert(ids.begin(), ids.end());
  return {out.begin(), out.end()};
}

void DeviceLedger::set_devices(const std::string& resource, std::vector<Device> devices) {
  auto& known = resources_[resource].devices;
  known.clear();
  for (Device& device : devices) {
    std::string id = device.id;
    known.insert_or_assign(std::move(id), std::move(device));
  }
}

void DeviceLedger::set_connected(const std::string& resource, bool connected) {
  resources_[resource].connected = connected;
}

void DeviceLedger::drop_devices(const std::string& resource) {
  resources_[resource].devices.clear();
}

bool DeviceLedger::knows(std::string_view resource) const {
  return resources_.find(resource) != resources_.end();
}

bool DeviceLedger::is_connected(std::string_view resource) const {
  auto found = resources_.find(resource);
  return found != resources_.end() && found->second.connected;
}

std::vector<DeviceCount> DeviceLedger::counts() const {
  std::vector<DeviceCount> out;
  for (const auto& [name, resource] : resources_) {
    DeviceCount& count = out.emplace_back(DeviceCount{.resource = name});
    count.capacity = static_cast<std::int64_t>(resource.devices.size());
    count.allocatable = static_cast<std::int64_t>(healthy(name).size());
  }
  return out;
}

std::vector<Device> DeviceLedger::healthy(std::string_view resource) const {
  std::vector<Device> out;
  auto found = resources_.find(resource);
  if (found == resources_.end() || !found->second.connected) return out;
  for (const auto& [id, device] : found->second.devices)
    if (device.healthy) out.push_back(device);
  return out;
}

std::vector<std::string> DeviceLedger::resources() const {
  std::vector<std::string> out;
  for (const auto& [name, resource] : resources_) out.push_back(name);
  return out;
}

DeviceIds DeviceLedger::free(std::string_view resource) const {
  std::set<std::string> held;
  for (const Holding& holding : holdings_) {
    if (holding.resource != resource) continue;
    for (const auto& [numa, ids] : holding.ids_by_numa) held.insert(ids.begin(), ids.end());
  }
  DeviceIds out;
  for (Device& device : healthy(resource))
    if (!held.contains(device.id)) out.push_back(std::move(device.id));
  return out;
}

const Holding* DeviceLedger::find(std::string_view pod_uid, std::string_view container,
                                  std::string_view resource) const {
  for (const Holding& holding : holdings_)
    if (holding.pod_uid == pod_uid && holding.container == container &&
        holding.resource == resource)
      return &holding;
  return nullptr;
}

std::vector<const Holding*> DeviceLedger::held_by(std::string_view pod_uid,
                                                  std::string_view container) const {
  std::vector<const Holding*> out;
  for (const Holding& holding : holdings_)
    if (holding.pod_uid == pod_uid && holding.container == container) out.push_back(&holding);
  return out;
}

void DeviceLedger::hold(std::string pod_uid, std::string container, std::string resource,
                        const DeviceIds& ids, std::string response) {
  std::erase_if(holdings_, [&](const Holding& other) {
    return other.pod_uid == pod_uid && other.container == container && other.resource == resource;
  });
  Holding& added = holdings_.emplace_back();
  const auto& devices = resources_[resource].devices;
  for (const std::string& id : ids) {
    auto device = devices.find(id);
    if (device == devices.end() || device->second.numa_nodes.empty()) {
      added.ids_by_numa[kNoNuma].push_back(id);
    } else {
      for (std::int64_t numa : device->second.numa_nodes) added.ids_by_numa[numa].push_back(id);
    }
  }
  added.pod_uid = std::move(pod_uid);
  added.container = std::move(container);
  added.resource = std::move(resource);
  added.response = std::move(response);
}

void DeviceLedger::release(std::string_view pod_uid) {
  std::erase_if(holdings_, [&](const Holding& holding) { return holding.pod_uid == pod_uid; });
}

bool DeviceLedger::keep_only(const std::set<std::string>& pod_uids) {
  return std::erase_if(holdings_, [&](const Holding& holding) {
           return !pod_uids.contains(holding.pod_uid);
         }) > 0;
}

json::value DeviceLedger::checkpoint() const {
  json::array entries;
  for (const Holding& holding : holdings_) {
    json::object ids;
    for (const auto& [numa, list] : holding.ids_by_numa)
      ids[std::to_string(numa)] = json::array(list.begin(), list.end());
    entries.push_back(json::object{{"PodUID", holding.pod_uid},
                                   {"ContainerName", holding.container},
                                   {"ResourceName", holding.resource},
                                   {"DeviceIDs", std::move(ids)},
                                   {"AllocResp", base64_encode(holding.response)}});
  }
  json::object registered;
  for (const auto& [name, resource] : resources_) {
    json::array ids;
    for (const auto& [id, device] : resource.devices)
      if (device.healthy) ids.emplace_back(id);
    registered[name] = std::move(ids);
  }
  json::object data{{"PodDeviceEntries", std::move(entries)},
                    {"RegisteredDevices", std::move(registered)}};
  return json::object{{"Data", std::move(data)}, {"Checksum", 0}};
}

Result<void> DeviceLedger::restore(const json::value& checkpoint) {
  const json::value* entries = plim::find(checkpoint, {"Data", "PodDeviceEntries"});
  const json::value* registered = plim::find(checkpoint, {"Data", "RegisteredDevices"});
  if (!plim::find(checkpoint, {"Data"}))
    return fail(Code::invalid, "the device checkpoint has no Data");
  // Go writes an empty list as null.
  if (registered && registered->is_object()) {
    for (const auto& [name, ids] : registered->get_object()) {
      auto& devices = resources_[name].devices;
      for (std::string& id : texts_of(&ids)) {
        Device device{.id = id, .healthy = true};
        devices.emplace(std::move(id), std::move(device));
      }
    }
  }
  if (!entries || !entries->is_array()) return {};
  for (const json::value& entry : entries->get_array()) {
    Holding holding{.pod_uid = std::string(text_at(entry, {"PodUID"})),
                    .container = std::string(text_at(entry, {"ContainerName"})),
                    .resource = std::string(text_at(entry, {"ResourceName"})),
                    .ids_by_numa = {},
                    .response = base64_decode(text_at(entry, {"AllocResp"})).value_or("")};
    const json::value* ids = plim::find(entry, {"DeviceIDs"});
    if (holding.pod_uid.empty() || !ids || !ids->is_object())
      return fail(Code::invalid, "the device checkpoint has a malformed entry");
    for (const auto& [numa, list] : ids->get_object()) {
      PLIM_TRY(auto number, parse_int<std::int64_t>(numa));
      holding.ids_by_numa[number] = texts_of(&list);
    }
    holdings_.push_back(std::move(holding));
  }
  return {};
}

}  // namespace plim::local::kubelet
