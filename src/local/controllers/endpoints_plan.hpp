// Computes the Endpoints and EndpointSlices of a Service. Pure.
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

// True if both pods give a Service the same address.
bool same_for_services(const kube::Pod& a, const kube::Pod& b);

inline constexpr std::size_t kMaxEndpoints = 1000;

// The Endpoints object of the service; fields of `present` that it does not set stay.
json::value endpoints_of(const Object& service, const std::vector<PodPointer>& pods,
                         const json::value* present);

struct SlicePlan {
  std::vector<json::value> create = {};
  std::vector<json::value> update = {};
  std::vector<ObjectPointer> remove = {};
};

inline constexpr std::size_t kMaxSlice = 100;

// Endpoints stay in their slice, so that few slices change; there is always at least one slice.
SlicePlan plan_slices(const Object& service, const std::vector<PodPointer>& pods,
                      const std::vector<ObjectPointer>& present);

}  // namespace plim::local::controllers
