#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "kube/paths.hpp"
#include "local/kubelet/nodes/pod_resources_service.hpp"
#include "pod_resources_v1.pb.h"

namespace plim::local::kubelet {
namespace {

void add_devices(v1::ContainerResources& out, const Holding& holding) {
  for (const auto& [numa, ids] : holding.ids_by_numa) {
    auto& added = *out.add_devices();
    added.set_resource_name(holding.resource);
    for (const std::string& id : ids) added.add_device_ids(id);
    if (numa != kNoNuma) added.mutable_topology()->add_nodes()->set_id(numa);
  }
}

void fill(v1::PodResources& out, const json::value& pod, const DeviceLedger& ledger) {
  const std::string_view uid = kube::text_at(pod, "Pod.metadata.uid");
  out.set_name(std::string(kube::text_at(pod, "Pod.metadata.name")));
  out.set_namespace_(std::string(kube::text_at(pod, "Pod.metadata.namespace")));
  constexpr kube::ListPath kInit = "Pod.spec.initContainers", kOthers = "Pod.spec.containers";
  for (kube::ListPath list : {kInit, kOthers}) {
    for (const json::value& container : kube::list_at(pod, list)) {
      // Init containers that have ended pass their devices on to the others.
      if (list.keys() == kInit.keys() &&
          kube::text_at(container, "Container.restartPolicy") != "Always")
        continue;
      auto& added = *out.add_containers();
      added.set_name(std::string(kube::text_at(container, "Container.name")));
      for (const Holding* holding : ledger.held_by(uid, added.name())) add_devices(added, *holding);
    }
  }
}

bool has_ended(const json::value& pod) {
  const std::string_view phase = kube::text_at(pod, "Pod.status.phase");
  return phase == "Succeeded" || phase == "Failed";
}

}  // namespace

Result<PodName> decode_get_pod_resources(const std::string& bytes) {
  v1::GetPodResourcesRequest request;
  if (!request.ParseFromString(bytes)) return fail(Code::bad_request, "malformed request");
  return PodName{.name = request.pod_name(), .ns = request.pod_namespace()};
}

std::string encode_list_pod_resources(const std::vector<json::value>& pods,
                                      const DeviceLedger& ledger) {
  v1::ListPodResourcesResponse out;
  for (const json::value& pod : pods)
    if (!has_ended(pod)) fill(*out.add_pod_resources(), pod, ledger);
  return out.SerializeAsString();
}

std::string encode_get_pod_resources(const json::value& pod, const DeviceLedger& ledger) {
  v1::GetPodResourcesResponse out;
  fill(*out.mutable_pod_resources(), pod, ledger);
  return out.SerializeAsString();
}

std::string encode_allocatable(const DeviceLedger& ledger) {
  v1::AllocatableResourcesResponse out;
  for (const std::string& resource : ledger.resources()) {
    for (const Device& device : ledger.healthy(resource)) {
      auto& added = *out.add_devices();
      added.set_resource_name(resource);
      added.add_device_ids(device.id);
      for (std::int64_t numa : device.numa_nodes)
        added.mutable_topology()->add_nodes()->set_id(numa);
    }
  }
  return out.SerializeAsString();
}

Result<std::vector<std::string>> describe_list_pod_resources(const std::string& bytes) {
  v1::ListPodResourcesResponse message;
  if (!message.ParseFromString(bytes)) return fail(Code::bad_request, "malformed list");
  std::vector<std::string> out;
  for (const auto& pod : message.pod_resources())
    for (const auto& container : pod.containers())
      for (const auto& devices : container.devices())
        out.push_back(fmt::format("{}/{} {} {}={}", pod.namespace_(), pod.name(), container.name(),
                                  devices.resource_name(), fmt::join(devices.device_ids(), ",")));
  std::ranges::sort(out);
  return out;
}

}  // namespace plim::local::kubelet
