// The node's side of the protocol with a pod's shim.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/fd.hpp"
#include "base/json.hpp"
#include "base/result.hpp"
#include "base/task.hpp"
#include "local/kubelet/shim/shim_protocol.hpp"

namespace plim::local::kubelet {

struct ExecOutcome {
  int exit_code = 0;
  bool timed_out = false;
  std::string output;  // both streams, the first 16 KiB
};

// Delivers the state of a shim, again after each change. Belongs to one loop.
class ShimWatch {
 public:
  virtual ~ShimWatch() = default;
  // Returns at once the first time, then after each change. Code::unavailable: the shim is gone.
  // Code::unimplemented: a later version started it. Its `quit` means the same in all versions.
  virtual Task<Result<ShimState>> next() = 0;
};

// Reports that a container has logged something.
class ShimTicks {
 public:
  virtual ~ShimTicks() = default;
  virtual Task<Result<bool>> next() = 0;  // false: the container has ended
};

// Sends requests to the shim of one pod directory. Answers have no time limit: the shim is our
// own program and answers at once, and when it dies its socket closes. Belongs to one loop.
class ShimClient {
 public:
  // `command` starts a shim when the directory is appended: {"/proc/self/exe", "pod-shim"}.
  ShimClient(std::string directory, std::vector<std::string> command);

  Task<Result<void>> launch();  // succeeds if the shim already runs
  Task<Result<std::unique_ptr<ShimWatch>>> watch();
  Task<Result<std::unique_ptr<ShimTicks>>> follow(std::string id);
  // A run that could not be started is returned with its error set.
  Task<Result<ShimRun>> start(StartSpec spec);
  Task<Result<ExecOutcome>> exec(std::string id, std::vector<std::string> argv,
                                 std::chrono::milliseconds timeout);
  Task<Result<void>> signal(std::string id, int number);
  Task<Result<void>> kill(std::string id);
  Task<Result<void>> quit();  // waits until the shim has ended; succeeds if it had

 private:
  Task<Result<json::value>> ask(json::value request);

  std::string directory_;
  std::vector<std::string> command_;
};

// Reads the state that the shim wrote to disk, for pods whose shim is gone.
Result<ShimState> read_shim_state(const std::string& directory);

}  // namespace plim::local::kubelet
