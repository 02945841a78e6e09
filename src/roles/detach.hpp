// Starts a process in the background and receives its messages until it is ready.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <string_view>

#include "base/fd.hpp"
#include "roles/errors.hpp"

namespace plim::roles {

// The sending end, in the background process. Messages are dropped if the reader has gone.
class Starter {
 public:
  explicit Starter(Fd pipe) : pipe_(std::move(pipe)) {}

  void say(std::string_view line);      // a message for the user, who waits
  void ready(std::string_view result);  // ends the conversation
  void failed(const Failure& failure);  // ends the conversation too

 private:
  void send(char kind, std::string_view text);
  Fd pipe_;
};

struct DetachOptions {
  std::string log;  // file for standard output and standard error
  std::chrono::milliseconds wait{0};
  std::function<void(std::string_view line)> on_line;
};

// Forks. The new process runs `run` in its own session and exits with its result. The caller gets
// the text passed to ready(), or the failure passed to failed(). Call it before any thread starts.
Outcome<std::string> detach(const DetachOptions& options,
                            const std::function<int(Starter& starter)>& run);

}  // namespace plim::roles
