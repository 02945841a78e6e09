// Who holds which devices on a node: as the kubelet's pod-resources API and its checkpoint tell it.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace plim::node {

// One container's devices of one resource; one resource may come in several, a NUMA node each.
struct HeldDevices {
  std::string ns = {}, pod = {};  // of the API, which does not know uids
  std::string pod_uid = {};       // of the checkpoint, which knows nothing else
  std::string container = {}, resource = {};
  std::vector<std::string> ids = {};
};

// The answer to List.
Result<std::vector<HeldDevices>> decode_pod_resources(const std::string& bytes);
// CPUs that the kubelet itself gives to containers, of the answer to GetAllocatableResources.
Result<std::vector<std::int64_t>> decode_allocatable_cpus(const std::string& bytes);
// For tests that play a kubelet.
std::string encode_pod_resources(const std::vector<HeldDevices>& held);

// kubelet_internal_checkpoint, in the shape of kubelets before 1.21 and since. It may be read while
// it is written: an error is worth another try.
Result<std::vector<HeldDevices>> parse_device_checkpoint(std::string_view text);

}  // namespace plim::node
