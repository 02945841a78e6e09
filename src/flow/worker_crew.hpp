// The workers of a local run: as many as asked for, each a process or a thread at the other end of
// a socket pair; one that dies is replaced.
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

// Belongs to one loop; co_await stop() before it goes.
class WorkerCrew {
 public:
  struct Settings {
    unsigned workers = 1;
    bool threads = false;
    std::string program;  // what a worker process runs, with the word flow-worker
  };

  struct Handlers {
    std::function<void(WorkerNumber, const Frame&)> frame;
    // After everything the worker had sent; `how` is "killed by signal 9 (Killed)", "" for threads.
    std::function<void(WorkerNumber, const std::string& how)> left;
  };

  WorkerCrew(const Executor& loop, Clock& clock, Settings settings, Handlers handlers);
  ~WorkerCrew();

  void start();
  void send(WorkerNumber worker, std::string_view bytes);
  // Nobody is replaced any more; workers finish what they are at, and after `grace` are ended.
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
  std::set<WorkerNumber> silent_;  // not a word from them yet
  bool stopping_ = false;
  Event changed_;
  TaskGroup tasks_;
};

}  // namespace plim::flow
