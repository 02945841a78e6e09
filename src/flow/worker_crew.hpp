// The workers of a local run. Each is a process or a thread at the other end of a socket pair. A
// worker that dies is replaced.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "base/clock.hpp"
#include "base/event.hpp"
#include "base/task.hpp"
#include "flow/dispatcher.hpp"
#include "flow/worker_link.hpp"

namespace plim::flow {

// Belongs to one loop; co_await stop() before destroying it.
class WorkerCrew {
 public:
  struct Settings {
    unsigned workers = 1;
    bool threads = false;
    std::string program;  // program of worker processes; gets the argument flow-worker
  };

  struct Handlers {
    std::function<void(WorkerNumber, const Frame&)> frame;
    // Called after the worker's last frame; `how` is "killed by signal 9 (Killed)", "" for threads.
    std::function<void(WorkerNumber, const std::string& how)> left;
  };

  WorkerCrew(const Executor& loop, Clock& clock, Settings settings, Handlers handlers);
  ~WorkerCrew();

  void start();
  void send(WorkerNumber worker, std::string_view bytes);
  // Stops replacing workers and asks them to end without further commits. Kills those that are left
  // after `grace`.
  Task<void> stop(Nanos grace);

  std::size_t present() const { return links_.size(); }

 private:
  Task<void> keep_worker();
  Task<Result<std::string>> run_process(WorkerNumber number);
  Task<Result<std::string>> run_thread(WorkerNumber number);
  Task<void> until_left(WorkerNumber number);
  void connect(WorkerNumber number, Fd socket);

  Clock& clock_;
  Settings settings_;
  Handlers handlers_;
  std::map<WorkerNumber, std::shared_ptr<WorkerLink>> links_;
  WorkerNumber last_ = 0;
  std::set<WorkerNumber> silent_;  // have not sent a frame yet
  bool stopping_ = false;
  Event changed_;
  TaskGroup tasks_;
};

}  // namespace plim::flow
