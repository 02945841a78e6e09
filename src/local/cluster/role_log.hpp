// Reads the logs of roles: plain lines, all runs one after the other in one file.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.hpp"
#include "base/result.hpp"
#include "base/task.hpp"
#include "local/kubelet/nodes/kubelet_pods.hpp"

namespace plim::local::cluster {

// The part of the file that one run has written.
struct RoleLog {
  std::string path;
  std::uint64_t from = 0;
  std::optional<std::uint64_t> until = {};  // none: to the end of the file, also as it grows
  WallTime began = {};
};

// The time in a line of our own log, or of klog's, which has no year (`now` supplies it). Nothing
// if the line has no time.
std::optional<WallTime> time_of_line(std::string_view line, WallTime now);

// Of a longer log only the end is shown, as if a kubelet had rotated it.
inline constexpr std::uint64_t kMostLogShown = 32 << 20;

// Passes pieces to `write` until it returns false. With `follow`, waits for more as long as
// `goes_on` returns true. A line without a time gets the time of the line before it.
Task<Result<void>> copy_role_log(Clock& clock, RoleLog log, kubelet::LogOptions options,
                                 std::function<bool()> goes_on,
                                 std::function<bool(std::string)> write);

}  // namespace plim::local::cluster
