// The release of Kubernetes that Plimsoll follows. A local cluster reports it, and the types of
// local/apiserver are generated from it (tools/kubernetes_types).
#pragma once

#include <string_view>

namespace plim::kube {

inline constexpr std::string_view kReferenceMajor = "1";
inline constexpr std::string_view kReferenceMinor = "37";
inline constexpr std::string_view kReferenceVersion = "v1.37.0";

}  // namespace plim::kube
