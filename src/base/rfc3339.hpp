// Time stamps in the formats of Kubernetes.
#pragma once

#include <string>
#include <string_view>

#include "base/clock.hpp"
#include "base/result.hpp"

namespace plim {

// "2024-01-02T03:04:05Z", optionally with a fraction (digits after the ninth are dropped) and an
// offset such as +02:00. No leap seconds, as in Go. Years 1678 to 2261 fit a WallTime.
Result<WallTime> parse_rfc3339(std::string_view text);

std::string format_rfc3339(WallTime time);        // metav1.Time: 2024-01-02T03:04:05Z
std::string format_rfc3339_micro(WallTime time);  // metav1.MicroTime: 2024-01-02T03:04:05.000000Z
std::string format_rfc3339_nano(WallTime time);   // as many digits as needed

}  // namespace plim
