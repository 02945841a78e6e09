// Which pods hold which devices on a node, from the kubelet's pod-resources API and checkpoint.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace plim::node {

// Devices of one resource in one container; a resource may have one entry for each NUMA node.
struct HeldDevices {
  std::string ns = {}, pod = {};  // from the API, which has no UIDs
  std::string pod_uid = {};       // from the checkpoint, which has only UIDs
  std::string container = {}, resource = {};
  std::vector<std::string> ids = {};
};

// Decodes the response to List.
Result<std::vector<HeldDevices>> decode_pod_resources(const std::string& bytes);
// CPUs that the kubelet itself assigns to containers, from the response to GetAllocatableResources.
Result<std::vector<std::int64_t>> decode_allocatable_cpus(const std::string& bytes);
// For tests with a fake kubelet.
std::string encode_pod_resources(const std::vector<HeldDevices>& held);

// Parses kubelet_internal_checkpoint, in the format of kubelets before 1.21 and since. It may be
// read while it is written: retry after an error.
Result<std::vector<HeldDevices>> parse_device_checkpoint(std::string_view text);

}  // namespace plim::node
