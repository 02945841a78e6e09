// Tells the API server which node a pod has got, or has an extender tell it.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include "base/json.hpp"
#include "base/result.hpp"
#include "base/task.hpp"
#include "kube/client.hpp"
#include "sched/extender.hpp"
#include "sched/vocabulary.hpp"

namespace plim::sched {

struct Binding {
  PodPointer pod;
  std::string node;
  json::object annotations;  // the API server puts them on the pod
  // Of these the first that binds such pods does it, without the annotations.
  std::shared_ptr<const ExtenderList> extenders;
};

// The decision in short, as an annotation for whoever looks at the pod later.
json::object annotations_of(const Decision& decision);

// Belongs to one loop; co_await stop() before destroying it.
class Binder {
 public:
  // Not called when the binder is stopped before the answer is there.
  using Done = std::function<void(Result<void>)>;

  Binder(const Executor& loop, std::shared_ptr<kube::Client> client);
  Task<void> stop();

  // Returns at once.
  void bind(Binding binding, Done done);

  std::size_t under_way() const { return under_way_; }

 private:
  Task<void> carry_out(Binding binding, Done done);
  Task<Result<void>> write(Binding binding);
  Task<Result<bool>> delegate(Binding binding);  // false: to nobody

  std::shared_ptr<kube::Client> client_;
  std::size_t under_way_ = 0;
  TaskGroup tasks_;
};

}  // namespace plim::sched
