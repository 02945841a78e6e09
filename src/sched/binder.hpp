// Binds pods to their nodes through the API server, or lets an extender do it.
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
  json::object annotations;  // the API server adds them to the pod
  // The first of these that binds such pods does it, without the annotations.
  std::shared_ptr<const ExtenderList> extenders;
};

// A summary of the decision as an annotation of the pod.
json::object annotations_of(const Decision& decision);

// Belongs to one loop; co_await stop() before destroying it.
class Binder {
 public:
  // Not called if the binder is stopped before the answer arrives.
  using Done = std::function<void(Result<void>)>;

  Binder(const Executor& loop, std::shared_ptr<kube::Client> client);
  Task<void> stop();

  // Returns at once.
  void bind(Binding binding, Done done);

  std::size_t under_way() const { return under_way_; }

 private:
  Task<void> carry_out(Binding binding, Done done);
  Task<Result<void>> write(Binding binding);
  Task<Result<bool>> delegate(Binding binding);  // false: no extender binds this pod

  std::shared_ptr<kube::Client> client_;
  std::size_t under_way_ = 0;
  TaskGroup tasks_;
};

}  // namespace plim::sched
