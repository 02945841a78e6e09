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
  // `receiver` is null if the servo sends nothing. The registry must outlive the daemon.
  Daemon(const Executor& loop, Settings settings, std::shared_ptr<kube::Client> client,
         std::unique_ptr<Receiver> receiver, metrics::Registry& registry, Clock& clock,
         std::size_t most_in_memory = 10'000);

  // Opens the store and the listener, sends HELLO, then starts lists and watches as own tasks.
  Task<Result<void>> start();
  // Takes at most about four seconds. The GOODBYE message carries `reason`.
  Task<void> stop(std::string reason);

  std::string address() const { return server_ ? server_->address() : ""; }

 private:
  void make_watches();
  void run_ended(loop::RunRecord run);
  void run_stored(const loop::RunRecord& run, JournalPosition at);
  void run_dead(const loop::RunRecord& run, const std::string& why);
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
  std::unique_ptr<Sender> sender_;  // null without receiver_
  std::vector<std::unique_ptr<JobWatch>> watches_;
  kube::EventRecorder events_;
  std::shared_ptr<metrics::Registry::Collect> collector_;
  std::unique_ptr<net::Server> server_;

  // Stored runs go to the sender until it holds a maximum number. Further runs wait on disk and
  // are read back in the same order.
  const std::size_t most_in_memory_;
  JournalPosition handed_{};  // position of the last run that the sender got
  bool behind_ = true;        // the disk may have runs that the sender does not have
  Event feed_event_;
  TaskGroup tasks_;
};

}  // namespace plim::servo
