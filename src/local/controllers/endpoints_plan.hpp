// The addresses behind a Service, as Endpoints and as EndpointSlices. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json.hpp"
#include "local/controllers/owned_object.hpp"

namespace plim::local::controllers {

inline constexpr std::string_view kServiceName = "kubernetes.io/service-name";
inline constexpr std::string_view kSliceManagedBy = "endpointslice.kubernetes.io/managed-by";
inline constexpr std::string_view kSliceManager = "endpointslice-controller.k8s.io";

// Nothing that a Service's addresses depend on differs.
bool same_for_services(const kube::Pod& a, const kube::Pod& b);

inline constexpr std::size_t kMaxEndpoints = 1000;

// The Endpoints object of the service; `present` is kept where it says nothing about it.
json::value endpoints_of(const Object& service, const std::vector<PodPointer>& pods,
                         const json::value* present);

struct SlicePlan {
  std::vector<json::value> create = {};
  std::vector<json::value> update = {};
  std::vector<ObjectPointer> remove = {};
};

inline constexpr std::size_t kMaxSlice = 100;

// Endpoints stay in the slice they are in, so that few slices change; there is always one.
SlicePlan plan_slices(const Object& service, const std::vector<PodPointer>& pods,
                      const std::vector<ObjectPointer>& present);

}  // namespace plim::local::controllers
