// Requests to webhooks and their responses: AdmissionReview of admission.k8s.io/v1.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.hpp"
#include "base/result.hpp"
#include "local/apiserver/api/error.hpp"
#include "local/apiserver/api/hooks.hpp"

namespace plim::local::apiserver {

// The `request` of a review, without its UID.
json::object review_request(const Admission& admission);

struct ReviewAnswer {
  bool allowed = false;
  std::optional<std::string> patch = {};  // a JSON text
  json::value status = {};                // why it was denied
  std::vector<std::string> warnings = {};
};

// Only mutating webhooks may return a patch.
enum class Phase : std::uint8_t { mutating, validating };

// Code::internal for anything that is not a valid response to the request with this UID.
Result<ReviewAnswer> read_answer(std::string_view body, std::string_view uid, Phase phase);

ApiError denied(std::string_view webhook, const json::value& status);
ApiError call_failed(std::string_view webhook, std::string_view why);
// The response is valid but cannot be carried out; the failure policy does not apply.
ApiError cannot_be_followed(std::string message);

}  // namespace plim::local::apiserver
