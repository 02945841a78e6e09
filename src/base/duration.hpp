// Durations as Go and kubectl write them.
#pragma once

#include <string>
#include <string_view>

#include "base/clock.hpp"
#include "base/result.hpp"

namespace plim {

// "1h15m30.918s", "-1.5h", "100ms", "0": the grammar of Go's time.ParseDuration. Finer parts than
// nanoseconds are dropped.
Result<Nanos> parse_duration(std::string_view text);
// "1h15m30.918s", "1.5ms", "0s".
std::string format_duration(Nanos duration);
// The age as in kubectl's tables, at most two units: "5m", "3d4h", "2y10d". "<invalid>" for a time
// that is more than a second in the future.
std::string human_duration(Nanos duration);

}  // namespace plim
