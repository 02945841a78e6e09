// Pods at their admission, for tests of the mutator.
#pragma once

#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "base/json.hpp"
#include "local/patch/patch.hpp"
#include "pools/mutate.hpp"

namespace plim::pools::testing {

inline PoolCatalog sample_catalog() {
  PoolCatalog out;
  out.pools["cpupool1"] = {PoolType::exclusive, 4, false};
  out.pools["exclusive-cores"] = {PoolType::exclusive, 8, true};
  out.pools["sharedpool"] = {PoolType::shared, 3, false};
  out.pools["shared-two"] = {PoolType::shared, 2, false};
  out.pools["default"] = {PoolType::common, 2, false};
  return out;
}

inline json::value parsed(std::string_view text) {
  auto out = parse_json(text);
  EXPECT_TRUE(out) << (out ? "" : out.error().message) << text;
  return out ? std::move(*out) : json::value();
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

inline kube::AdmissionReview creation_of(json::value pod) {
  return {.api_version = "admission.k8s.io/v1",
          .uid = "u",
          .group = "",
          .resource = "pods",
          .subresource = "",
          .ns = "default",
          .name = "",
          .operation = "CREATE",
          .object = std::move(pod)};
}

inline kube::AdmissionAnswer admit(json::value pod, const MutateOptions& options = {}) {
  return mutate_pod(creation_of(std::move(pod)), sample_catalog(), options);
}

// The pod as it is after admission; a second visit must find nothing left to do.
inline json::value admitted(const json::value& pod, const MutateOptions& options = {}) {
  const kube::AdmissionAnswer answer = admit(pod, options);
  EXPECT_TRUE(answer.allowed) << answer.message;
  auto out = local::apply_json_patch(pod, answer.patch);
  EXPECT_TRUE(out) << (out ? "" : out.error().message) << to_json(answer.patch);
  if (!out) return {};
  const kube::AdmissionAnswer again = admit(*out, options);
  EXPECT_TRUE(again.allowed) << again.message;
  EXPECT_TRUE(again.patch.empty()) << to_json(again.patch);
  return *out;
}

inline const json::value& container_of(const json::value& pod, std::size_t index = 0,
                                       std::string_view list = "containers") {
  return pod.at("spec").at(list).at(index);
}

}  // namespace plim::pools::testing
