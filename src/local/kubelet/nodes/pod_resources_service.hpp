// Answers of the kubelet's pod-resources API: which container holds which devices.
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
// Of pods that have not ended.
std::string encode_list_pod_resources(const std::vector<json::value>& pods,
                                      const DeviceLedger& ledger);
std::string encode_get_pod_resources(const json::value& pod, const DeviceLedger& ledger);
// Without CPUs, as from a kubelet whose CPU manager gives none out.
std::string encode_allocatable(const DeviceLedger& ledger);

// For tests: "ns/name container resource=id,id" per container and resource, sorted.
Result<std::vector<std::string>> describe_list_pod_resources(const std::string& bytes);

}  // namespace plim::local::kubelet
