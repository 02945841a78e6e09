// The protocol between a node and the shim of a pod, and the state that the shim writes to disk.
//
// The shim listens on the socket shim.sock in the pod's directory. A request is one line with a
// JSON object, and so is its answer. After Request::watch the shim sends its state at once and
// after
// every change.
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

// A program that was updated meets shims that an earlier version started, and one that was put back
// meets those of a later version. Add one whenever a request or its meaning changes.
inline constexpr int kShimProtocol = 2;
inline constexpr int kShimProtocolWithVolumes = 2;  // the first that heeds ShimMount::volume

inline constexpr std::string_view kShimSocket = "shim.sock";
inline constexpr std::string_view kShimState = "shim.json";

// A directory or file of the machine that the container sees at another path.
struct ShimMount {
  std::string from, to;
  bool read_only = false;
  std::string volume = {};  // if not empty: `from` begins with it, and must not lead out of it
};

struct ShimRlimit {
  int resource = 0;
  std::uint64_t soft = 0, hard = 0;
};

// Everything the shim needs to start a container's main process.
struct StartSpec {
  std::string id;    // of this run
  std::string name;  // of the container
  json::value tag;   // the node's own data, returned with the state
  std::vector<std::string> argv;
  std::vector<std::string> env;  // "NAME=value"; no other variables are passed on
  std::string cwd;
  std::string log;                  // log file
  std::vector<std::string> cgroup;  // procs files; the process writes "0" to each
  std::vector<ShimRlimit> rlimits = {};

  // All of the following need root.
  bool own_mounts = false;     // mount namespace; `mounts` and `rootfs` need it
  bool own_processes = false;  // PID, IPC and UTS namespaces
  bool own_devices = false;    // a /dev with harmless devices only
  std::string hostname = {};
  std::string rootfs = {};
  std::vector<ShimMount> mounts = {};
  std::optional<uid_t> uid = {};
  std::optional<gid_t> gid = {};
  std::vector<gid_t> groups = {};
  bool no_new_privileges = false;
  // Bits of the capabilities that the process keeps. No value: all of them.
  std::optional<std::uint64_t> capabilities = {};
};

json::value encode(const StartSpec& spec);
Result<StartSpec> decode_start_spec(const json::value& value);

// One run of a container as the shim saw it. It holds both clocks: one for exact durations, one
// for times to show.
struct ShimRun {
  std::string id, name;
  json::value tag;
  pid_t pid = 0;
  std::uint64_t pid_start = 0;  // start time of the process in kernel ticks: the kernel reuses pids
  WallTime started{};
  Nanos started_monotonic{0};
  bool running = false;
  WallTime finished{};
  Nanos finished_monotonic{0};
  int exit_code = 0;
  int signal = 0;     // the signal that ended the main process; then exit_code is 128 + signal
  std::string error;  // why the process could not be started
};

struct ShimState {
  int protocol = kShimProtocol;
  pid_t pid = 0;
  std::vector<ShimRun> runs;  // oldest first; at most two per container
};

json::value encode(const ShimRun& run);
json::value encode(const ShimState& state);
Result<ShimState> decode_shim_state(const json::value& value);
// Whether a shim of this protocol does all that the spec asks.
Result<void> check_understood(const StartSpec& spec, int protocol);

// Field 22 of /proc/PID/stat, or 0 if there is no such process.
std::uint64_t process_start_ticks(pid_t pid);
// True if the pid still belongs to the recorded process. A zombie does not count.
bool is_alive(pid_t pid, std::uint64_t start_ticks);

}  // namespace plim::local::kubelet
