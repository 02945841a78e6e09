// Pods at their admission, for tests of the mutator.
#pragma once

#include <string>
#include <string_view>

#include "base/json.hpp"
#include "kube/testing/admission.hpp"
#include "pools/mutate.hpp"

namespace plim::pools::testing {

using kube::testing::creation_of;
using kube::testing::parsed;

inline PoolCatalog sample_catalog() {
  PoolCatalog out;
  out.pools["cpupool1"] = {PoolType::exclusive, 4, false};
  out.pools["exclusive-cores"] = {PoolType::exclusive, 8, true};
  out.pools["sharedpool"] = {PoolType::shared, 3, false};
  out.pools["shared-two"] = {PoolType::shared, 2, false};
  out.pools["default"] = {PoolType::common, 2, false};
  return out;
}

// `containers` and further members of the spec as JSON, the annotation as its text.
inline json::value pod_of(std::string_view spec, std::string_view annotation = "") {
  json::object metadata{{"generateName", "x-"}};
  if (!annotation.empty())
    metadata["annotations"] = json::object{{"nokia.k8s.io/cpus", annotation}};
  return json::object{{"apiVersion", "v1"},
                      {"kind", "Pod"},
                      {"metadata", std::move(metadata)},
                      {"spec", parsed(spec)}};
}

inline kube::AdmissionAnswer admit(json::value pod, const MutateOptions& options = {}) {
  return mutate_pod(creation_of(std::move(pod)), sample_catalog(), options);
}

inline json::value admitted(const json::value& pod, const MutateOptions& options = {}) {
  const PoolCatalog pools = sample_catalog();
  return kube::testing::admitted_by(
      [&](const kube::AdmissionReview& review) { return mutate_pod(review, pools, options); }, pod);
}

inline const json::value& container_of(const json::value& pod, std::size_t index = 0,
                                       std::string_view list = "containers") {
  return pod.at("spec").at(list).at(index);
}

}  // namespace plim::pools::testing
