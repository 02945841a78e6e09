// The loop that every controller runs: keys in, the world brought closer to what their objects say.
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

// Level-triggered: reconcile() looks at the present state, whatever the event was, and is called
// again with growing delays until it succeeds. A key is never with two workers. Belongs to one
// loop; co_await stop() before destroying it.
class Controller {
 public:
  Controller(const ControllerContext& context, ControllerIdentity identity);
  virtual ~Controller();
  Controller(const Controller&) = delete;
  Controller& operator=(const Controller&) = delete;

  const std::string& name() const { return identity_.name; }

  // Once the caches are complete.
  virtual void start();
  virtual Task<void> stop();

  // Nothing is queued or under way; keys that wait for a time do not count.
  bool idle() const;

 protected:
  virtual Task<Result<void>> reconcile(std::string key) = 0;

  // Not here but in controller.cpp, as the destructor is: every controller would instantiate the
  // queue.
  void enqueue(const std::string& key);
  void enqueue_after(const std::string& key, Nanos delay);
  int failures(const std::string& key) const;

  void record(const Parent& about, kube::EventNote::Type type, std::string_view reason,
              std::string message);

  // All at once; ends when the last has ended.
  Task<void> together(std::vector<Task<void>> calls);

  // Makes `parent` the controller of an orphan, or lets go of one that no longer matches. An object
  // that has meanwhile vanished is no error.
  Task<Result<void>> adopt(kube::Resource kind, kube::ObjectPath path, std::string uid,
                           Parent parent);
  Task<Result<void>> release(kube::Resource kind, kube::ObjectPath path, std::string uid,
                             Parent parent);
  // The cache may not know yet that the parent is being deleted; adopting for it would leave
  // objects that nobody collects.
  Task<Result<bool>> may_adopt(Parent parent);

  // Writes the status if it differs from that of `object`; true if it did.
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

// Whose an object is, by its controller reference and the selector of a would-be owner.
enum class Claim { mine, adopt, release, foreign };
Claim classify_claim(const kube::ObjectMeta& object, std::string_view parent_uid,
                     bool parent_deleting, bool matches);

// The server refuses to create anything in a namespace that is being deleted; trying again is no
// use.
bool is_namespace_terminating(const Error& error);

}  // namespace plim::local::controllers
