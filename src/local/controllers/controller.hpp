// The work loop of every controller: takes keys from a queue and reconciles their objects.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.hpp"
#include "base/log.hpp"
#include "base/result.hpp"
#include "base/task.hpp"
#include "kube/client.hpp"
#include "kube/event_recorder.hpp"
#include "kube/selector.hpp"
#include "kube/work_queue.hpp"
#include "local/controllers/shared_informers.hpp"

namespace plim::local::controllers {

// What all controllers share; the owner keeps it alive.
struct ControllerContext {
  Executor loop;
  std::shared_ptr<kube::Client> client;
  Clock& clock;
  SharedInformers& informers;
};

struct ControllerIdentity {
  std::string name;       // as --controllers takes it: "replicaset-controller"
  std::string component;  // as its events name it
  unsigned workers = 5;
};

// Level-triggered: reconcile() compares the current state with the wanted one, whatever the event
// was, and is retried with growing delays until it succeeds. No two workers handle the same key at
// once. Belongs to one loop; co_await stop() before destroying it.
class Controller {
 public:
  Controller(const ControllerContext& context, ControllerIdentity identity);
  virtual ~Controller();
  Controller(const Controller&) = delete;
  Controller& operator=(const Controller&) = delete;

  const std::string& name() const { return identity_.name; }

  // Call it once the caches are complete.
  virtual void start();
  virtual Task<void> stop();

  // True if no key is queued or being handled; keys with a delay do not count.
  bool idle() const;

 protected:
  virtual Task<Result<void>> reconcile(std::string key) = 0;

  // Defined in controller.cpp, like the destructor: otherwise every controller would instantiate
  // the queue.
  void enqueue(const std::string& key);
  void enqueue_after(const std::string& key, Nanos delay);
  int failures(const std::string& key) const;

  void record(const Parent& about, kube::EventNote::Type type, std::string_view reason,
              std::string message);

  // Runs all calls at once; completes when the last one has.
  Task<void> together(std::vector<Task<void>> calls);

  // Makes `parent` the controller of an orphan, or removes the reference from an object that no
  // longer matches. Succeeds if the object was deleted meanwhile.
  Task<Result<void>> adopt(kube::Resource kind, kube::ObjectPath path, std::string uid,
                           Parent parent);
  Task<Result<void>> release(kube::Resource kind, kube::ObjectPath path, std::string uid,
                             Parent parent);
  // Asks the server, since the cache may not know yet that the parent is being deleted. Objects
  // adopted by a deleted parent would never be collected.
  Task<Result<bool>> may_adopt(Parent parent);

  // Writes the status if it differs from that of `object`; returns whether it wrote.
  Task<Result<bool>> write_status(kube::Resource kind, ObjectPointer object, json::value status);

  Executor loop_;
  std::shared_ptr<kube::Client> client_;
  Clock& clock_;
  SharedInformers& informers_;
  TaskGroup tasks_;

 private:
  Task<void> work();

  ControllerIdentity identity_;
  kube::WorkQueue<std::string> queue_;
  kube::EventRecorder recorder_;
  log::Throttle log_;
};

// How an object relates to a possible owner, by controller reference and selector.
enum class Claim { mine, adopt, release, foreign };
Claim classify_claim(const kube::ObjectMeta& object, std::string_view parent_uid,
                     bool parent_deleting, bool matches);

// True if the server rejected a creation because the namespace is being deleted; a retry is
// pointless.
bool is_namespace_terminating(const Error& error);

}  // namespace plim::local::controllers
