// What a server says when it refuses: Kubernetes' Status objects, and answers that are none.
#pragma once

#include <string_view>

#include "base/json.hpp"
#include "base/result.hpp"
#include "net/http.hpp"

namespace plim::kube {

// For a Status object, also the one inside a watch's ERROR event. `http_status` decides where its
// reason is not known and it has no code.
Error error_from_status(const json::value& status, int http_status = 500);

// For an answer with a failing HTTP status. A body that is no Status (a proxy's HTML page) is cut
// down to one short line.
Error error_from_answer(int http_status, const net::Headers& headers, std::string_view body);

// The delay a Retry-After header asks for, in seconds; its date form is ignored, as client-go does.
std::optional<std::chrono::seconds> retry_after(const net::Headers& headers);

}  // namespace plim::kube
