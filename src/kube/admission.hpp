// The request to an admission webhook and its answer as plain structs. Mutators and the HTTP server
// of the webhook share only these.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/json.hpp"

namespace plim::kube {

// The `request` of an AdmissionReview. At admission an object has no uid yet, and perhaps no name.
struct AdmissionReview {
  std::string api_version;  // "admission.k8s.io/v1" or v1beta1; the answer repeats it
  std::string uid;          // of the request, not of the object
  std::string group, resource, subresource;
  std::string ns, name;
  std::string operation;  // "CREATE"
  bool dry_run = false;
  json::value object = {}, old_object = {};

  // True for pods, false for their subresources.
  bool is_about_pods() const { return group.empty() && resource == "pods" && subresource.empty(); }
};

struct AdmissionAnswer {
  bool allowed = true;
  std::string code = {};  // code of a refusal, such as "ANN012"; the message begins with it
  std::string message = {};
  json::array patch = {};  // RFC 6902
  std::vector<std::string> warnings = {};
};

// Called on the server's loop, so it must not block.
using Mutator = std::function<AdmissionAnswer(const AdmissionReview&)>;

}  // namespace plim::kube
