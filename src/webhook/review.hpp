// AdmissionReview as it goes over the wire: admission.k8s.io/v1 and v1beta1, which differ in name
// only as far as webhooks see.
#pragma once

#include <string>
#include <string_view>

#include "base/result.hpp"
#include "kube/admission.hpp"

namespace plim::webhook {

// Code::bad_request for what is not JSON or has no request. Members that are missing or of another
// type read as empty.
Result<kube::AdmissionReview> read_review(std::string_view body);

// API servers refuse an answer with another version or uid than they sent. Warnings are cut to
// 120 characters, as longer ones are by the API server itself.
std::string write_review(const kube::AdmissionReview& review, const kube::AdmissionAnswer& answer);

}  // namespace plim::webhook
