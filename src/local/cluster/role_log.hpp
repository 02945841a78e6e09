// Reading back what a role has written: plain lines, the runs one after the other in one file.
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
  std::optional<std::uint64_t> until = {};  // none: to its end, wherever that is by then
  WallTime began = {};
};

// When a line says it was written: one of our own logs, or of klog's, which knows no years (`now`
// tells). Nothing: it does not say.
std::optional<WallTime> time_of_line(std::string_view line, WallTime now);

// Of a longer log only the end is shown, as of one that a kubelet has rotated.
inline constexpr std::uint64_t kMostLogShown = 32 << 20;

// Hands pieces to `write` until it gives false. With `follow` it waits for more for as long as
// `goes_on` says so. A line that does not say when it was written counts as old as the one before
// it.
Task<Result<void>> copy_role_log(Clock& clock, RoleLog log, kubelet::LogOptions options,
                                 std::function<bool()> goes_on,
                                 std::function<bool(std::string)> write);

}  // namespace plim::local::cluster
