// Parses and writes AdmissionReview: admission.k8s.io/v1 and v1beta1, which differ only in name for
// webhooks.
#pragma once

#include <string>
#include <string_view>

#include "base/result.hpp"
#include "kube/admission.hpp"

namespace plim::webhook {

// Code::bad_request if it is not JSON or has no request. Members that are missing or have another
// type are empty.
Result<kube::AdmissionReview> read_review(std::string_view body);

// API servers reject a response with another version or UID than they sent. Warnings are cut to 120
// characters, as the API server does itself.
std::string write_review(const kube::AdmissionReview& review, const kube::AdmissionAnswer& answer);

}  // namespace plim::webhook
