// The objects that a pod's environment and volumes are made from, and which of them it needs.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/json.hpp"
#include "base/result.hpp"
#include "base/task.hpp"
#include "kube/client.hpp"

namespace plim::local::kubelet {

// A token of the pod's service account for a projected volume.
struct TokenNeed {
  std::string audience;
  std::int64_t seconds = 3600;

  auto operator<=>(const TokenNeed&) const = default;
};

struct SourceNeeds {
  std::set<std::string> config_maps, secrets;
  std::set<TokenNeed> tokens;
  bool services = false;  // service links; the service of the API is always needed
};

SourceNeeds env_needs(const json::value& pod, const json::value& container);
SourceNeeds volume_needs(const json::value& pod);

// The objects that were found; the map has no entry for a missing object.
struct PodSources {
  std::map<std::string, json::value> config_maps, secrets;
  std::map<TokenNeed, std::string> tokens;
  std::vector<json::value> services;
};

// Fails only if the API does not answer. Objects that do not exist are left out.
Task<Result<PodSources>> fetch_sources(std::shared_ptr<kube::Client> client, json::value pod,
                                       SourceNeeds needs);

}  // namespace plim::local::kubelet
