// Answers of the kubelet's pod-resources API: which devices each container holds.
#pragma once

#include <string>
#include <vector>

#include "base/json.hpp"
#include "local/kubelet/nodes/device_ledger.hpp"

namespace plim::local::kubelet {

struct PodName {
  std::string name, ns;
};

Result<PodName> decode_get_pod_resources(const std::string& bytes);
// Only pods that have not ended.
std::string encode_list_pod_resources(const std::vector<json::value>& pods,
                                      const DeviceLedger& ledger);
std::string encode_get_pod_resources(const json::value& pod, const DeviceLedger& ledger);
// Contains no CPUs, like the answer of a kubelet whose CPU manager allocates none.
std::string encode_allocatable(const DeviceLedger& ledger);

// For tests: "ns/name container resource=id,id" per container and resource, sorted.
Result<std::vector<std::string>> describe_list_pod_resources(const std::string& bytes);

}  // namespace plim::local::kubelet
