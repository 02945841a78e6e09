// Errors from a server's refusal: from Kubernetes' Status objects and from other answers.
#pragma once

#include <string_view>

#include "base/json.hpp"
#include "base/result.hpp"
#include "net/http.hpp"

namespace plim::kube {

// For a Status object, also that of a watch's ERROR event. `http_status` decides if the reason is
// unknown and there is no code.
Error error_from_status(const json::value& status, int http_status = 500);

// For an answer with a failing HTTP status. A body that is not a Status (a proxy's HTML page) is
// cut to one short line.
Error error_from_answer(int http_status, const net::Headers& headers, std::string_view body);

// The delay of a Retry-After header in seconds. The form with a date is ignored, as in client-go.
std::optional<std::chrono::seconds> retry_after(const net::Headers& headers);

}  // namespace plim::kube
