// What an API server asks an admission webhook and what it is told, without the coding: those who
// decide (mutators) and the one that speaks HTTP have only this in common.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/json.hpp"

namespace plim::kube {

// The `request` of an AdmissionReview. At admission an object has no uid yet, and perhaps no name.
struct AdmissionReview {
  std::string api_version;  // "admission.k8s.io/v1", or v1beta1: the answer has the same
  std::string uid;          // of the request, not of the object
  std::string group, resource, subresource;
  std::string ns, name;
  std::string operation;  // "CREATE"
  bool dry_run = false;
  json::value object = {}, old_object = {};

  // Pods themselves, not a subresource of theirs.
  bool is_about_pods() const { return group.empty() && resource == "pods" && subresource.empty(); }
};

struct AdmissionAnswer {
  bool allowed = true;
  std::string code = {};  // of a refusal: "ANN012"; the message begins with it
  std::string message = {};
  json::array patch = {};  // RFC 6902
  std::vector<std::string> warnings = {};
};

// Called on the server's loop, so it must not block.
using Mutator = std::function<AdmissionAnswer(const AdmissionReview&)>;

}  // namespace plim::kube
