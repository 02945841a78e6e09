#include "node/pod_resources.hpp"
#include "pod_resources_v1.pb.h"

namespace plim::node {

Result<std::vector<HeldDevices>> decode_pod_resources(const std::string& bytes) {
  v1::ListPodResourcesResponse message;
  if (!message.ParseFromString(bytes))
    return fail(Code::bad_request, "malformed list of pod resources");
  std::vector<HeldDevices> out;
  for (const auto& pod : message.pod_resources())
    for (const auto& container : pod.containers())
      for (const auto& devices : container.devices())
        out.push_back({.ns = pod.namespace_(),
                       .pod = pod.name(),
                       .pod_uid = {},
                       .container = container.name(),
                       .resource = devices.resource_name(),
                       .ids = {devices.device_ids().begin(), devices.device_ids().end()}});
  return out;
}

Result<std::vector<std::int64_t>> decode_allocatable_cpus(const std::string& bytes) {
  v1::AllocatableResourcesResponse message;
  if (!message.ParseFromString(bytes))
    return fail(Code::bad_request, "malformed allocatable resources");
  return std::vector<std::int64_t>(message.cpu_ids().begin(), message.cpu_ids().end());
}

std::string encode_pod_resources(const std::vector<HeldDevices>& held) {
  v1::ListPodResourcesResponse out;
  for (const HeldDevices& item : held) {
    auto& pod = *out.add_pod_resources();
    pod.set_name(item.pod);
    pod.set_namespace_(item.ns);
    auto& container = *pod.add_containers();
    container.set_name(item.container);
    auto& devices = *container.add_devices();
    devices.set_resource_name(item.resource);
    for (const std::string& id : item.ids) devices.add_device_ids(id);
  }
  return out.SerializeAsString();
}

}  // namespace plim::node
