// The agent as a whole: the measuring loop and who shows it.
#pragma once

#include <memory>
#include <vector>

#include "agent/measure_runner.hpp"
#include "base/result.hpp"
#include "base/task.hpp"
#include "net/server.hpp"

namespace plim::agent {

// Belongs to one loop; co_await stop() before destroying it.
class Agent {
 public:
  static Result<std::unique_ptr<Agent>> make(Executor loop, Clock& clock, AgentConfig config,
                                             RunnerOptions options);
  ~Agent();

  // Ends when the iterations asked for are done, else when it is cancelled. Fails when something is
  // missing that the configuration requires.
  Task<Result<void>> run() { return runner_->run(); }

  Task<void> stop();

  json::value state() const { return runner_->state(); }

 private:
  explicit Agent(std::unique_ptr<MeasureRunner> runner);

  std::unique_ptr<MeasureRunner> runner_;
  std::vector<std::unique_ptr<net::Server>> servers_;
};

}  // namespace plim::agent
