// A node's pods and containers as messages of the container runtime interface.
#pragma once

#include <string>
#include <vector>

#include "base/json.hpp"
#include "base/result.hpp"
#include "local/kubelet/nodes/cri_messages.hpp"
#include "local/kubelet/nodes/kubelet_pods.hpp"

namespace plim::local::kubelet {

// What a node knows at the time of a request.
struct CriFacts {
  std::vector<json::value> pods;
  std::vector<ContainerRun> runs;
  ImageList images;
};

// These take the bytes of a request and return those of the response. A pod has one sandbox, whose
// ID depends on the UID of the pod. Of each container they show the newest run and the one before,
// as a kubelet keeps them. Code::not_found: no container or sandbox has the ID.
Result<std::string> list_sandboxes(const CriFacts& facts, const std::string& request);
Result<std::string> list_containers(const CriFacts& facts, const std::string& request);
Result<std::string> sandbox_status(const CriFacts& facts, const std::string& request);
Result<std::string> container_status(const CriFacts& facts, const std::string& request);
Result<std::string> runtime_status(const std::string& version, const std::string& request);

// The client's side, for tests: "name attempt state image pod" for each container, "namespace/name
// state" for each sandbox.
std::string encode_list_containers_request(const std::string& id, bool running);
Result<std::vector<std::string>> describe_containers(const std::string& response);
Result<std::vector<std::string>> describe_sandboxes(const std::string& response);

}  // namespace plim::local::kubelet
