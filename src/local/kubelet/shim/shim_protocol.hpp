// What a node and the shim of a pod tell each other, and what the shim leaves on disk.
//
// The shim listens on the socket shim.sock in the pod's directory. One JSON object per line and
// request, one line back; after Request::watch the shim's state comes at once and after every
// change.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <vector>

#include "base/clock.hpp"
#include "base/json.hpp"
#include "base/result.hpp"

namespace plim::local::kubelet {

inline constexpr std::string_view kShimSocket = "shim.sock";
inline constexpr std::string_view kShimState = "shim.json";

// A directory or file of ours seen at another place inside the container.
struct ShimMount {
  std::string from, to;
  bool read_only = false;
};

struct ShimRlimit {
  int resource = 0;
  std::uint64_t soft = 0, hard = 0;
};

// Everything that has to be known to start a container's main process.
struct StartSpec {
  std::string id;    // of this run
  std::string name;  // of the container
  json::value tag;   // the node's own notes, given back with the state
  std::vector<std::string> argv;
  std::vector<std::string> env;  // "NAME=value"; nothing else is handed on
  std::string cwd;
  std::string log;                  // file
  std::vector<std::string> cgroup;  // procs files to write "0" into
  std::vector<ShimRlimit> rlimits = {};

  // All of the following needs root.
  bool own_mounts = false;     // mount namespace; `mounts` and `rootfs` need it
  bool own_processes = false;  // PID, IPC and UTS namespaces
  bool own_devices = false;    // a /dev of the harmless devices only
  std::string hostname = {};
  std::string rootfs = {};
  std::vector<ShimMount> mounts = {};
  std::optional<uid_t> uid = {};
  std::optional<gid_t> gid = {};
  std::vector<gid_t> groups = {};
  bool no_new_privileges = false;
  // Bits of the capabilities that stay; none: all of them.
  std::optional<std::uint64_t> capabilities = {};
};

json::value encode(const StartSpec& spec);
Result<StartSpec> decode_start_spec(const json::value& value);

// One run of a container as the shim saw it. Both clocks, so that durations are exact and times can
// be shown.
struct ShimRun {
  std::string id, name;
  json::value tag;
  pid_t pid = 0;
  std::uint64_t pid_start = 0;  // start time of the process in kernel ticks: a pid may come again
  WallTime started{};
  Nanos started_monotonic{0};
  bool running = false;
  WallTime finished{};
  Nanos finished_monotonic{0};
  int exit_code = 0;
  int signal = 0;     // the main process was ended by it; exit_code is 128 + signal then
  std::string error;  // why it could not be started at all
};

struct ShimState {
  pid_t pid = 0;
  std::vector<ShimRun> runs;  // oldest first; at most two of each container
};

json::value encode(const ShimRun& run);
json::value encode(const ShimState& state);
Result<ShimState> decode_shim_state(const json::value& value);

// Field 22 of /proc/PID/stat; 0 when there is no such process.
std::uint64_t process_start_ticks(pid_t pid);
// The process that was recorded, not a later one with its number. A zombie does not count.
bool is_alive(pid_t pid, std::uint64_t start_ticks);

}  // namespace plim::local::kubelet
