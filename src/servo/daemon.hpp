// The servo: watches jobs, stores their runs, sends them.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/event.hpp"
#include "base/metrics.hpp"
#include "base/task.hpp"
#include "kube/client.hpp"
#include "kube/event_recorder.hpp"
#include "net/server.hpp"
#include "servo/job_watch.hpp"
#include "servo/metrics.hpp"
#include "servo/receiver.hpp"
#include "servo/run_store.hpp"
#include "servo/sender.hpp"
#include "servo/settings.hpp"

namespace plim::servo {

// Belongs to one loop; co_await stop() before destroying it, also after start() failed.
class Daemon {
 public:
  // `receiver`: null if nothing is to be sent. The registry must outlive it.
  Daemon(const Executor& loop, Settings settings, std::shared_ptr<kube::Client> client,
         std::unique_ptr<Receiver> receiver, metrics::Registry& registry, Clock& clock,
         std::size_t most_in_memory = 10'000);

  // Store, listener, HELLO, then the lists and watches, which go on by themselves.
  Task<Result<void>> start();
  // At most about four seconds. `reason` is what GOODBYE says.
  Task<void> stop(std::string reason);

  std::string address() const { return server_ ? server_->address() : ""; }

 private:
  void make_watches();
  void run_ended(loop::RunRecord run);
  void run_stored(const loop::RunRecord& run, JournalPosition at);
  void run_dead(const loop::RunRecord& run, std::string why);
  void tell_pod(const loop::RunRecord& run, std::string reason, std::string message);
  bool is_present(const std::string& uid) const;
  std::string not_ready() const;
  Task<void> greet(std::string body, std::chrono::milliseconds limit);
  Task<void> feed();
  Task<void> look_again();
  Task<void> settle();
  void collect(metrics::Exposition& out) const;

  Executor loop_;
  Settings settings_;
  std::shared_ptr<kube::Client> client_;
  std::unique_ptr<Receiver> receiver_;
  Clock& clock_;
  Metrics metrics_;
  std::unique_ptr<RunStore> store_;
  std::unique_ptr<Sender> sender_;  // with receiver_ only
  std::vector<std::unique_ptr<JobWatch>> watches_;
  kube::EventRecorder events_;
  std::shared_ptr<metrics::Registry::Collect> collector_;
  std::unique_ptr<net::Server> server_;

  // Runs go to the sender as they are stored, up to a number; beyond it they wait on disk and are
  // read back in the same order.
  const std::size_t most_in_memory_;
  JournalPosition handed_{};  // the last one the sender got
  bool behind_ = true;        // there may be more on disk
  Event feed_event_;
  TaskGroup tasks_;
};

}  // namespace plim::servo
