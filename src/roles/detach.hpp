// A process that goes on in the background, and what it tells the one that started it until it is
// ready.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <string_view>

#include "base/fd.hpp"
#include "roles/errors.hpp"

namespace plim::roles {

// The end in the background. What nobody reads any more is dropped.
class Starter {
 public:
  explicit Starter(Fd pipe) : pipe_(std::move(pipe)) {}

  void say(std::string_view line);      // for people, while they wait
  void ready(std::string_view result);  // the last word
  void failed(const Failure& failure);  // the same

 private:
  void send(char kind, std::string_view text);
  Fd pipe_;
};

struct DetachOptions {
  std::string log;  // where standard output and standard error go
  std::chrono::milliseconds wait{0};
  std::function<void(std::string_view line)> on_line;
};

// Forks; `run` goes on in the new process, in a session of its own, and its answer is that process'
// exit code. Here the answer is what ready() was given, or the failure over there. Call it before
// any thread is started.
Outcome<std::string> detach(const DetachOptions& options,
                            const std::function<int(Starter& starter)>& run);

}  // namespace plim::roles
