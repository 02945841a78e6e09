// Where other parts of the local cluster take part in requests. An explicit list: whoever has
// something to say sets the member.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/json.hpp"
#include "base/task.hpp"
#include "local/apiserver/api/call.hpp"
#include "local/apiserver/api/error.hpp"

namespace plim::local::apiserver {

// One write between decoding and the store.
struct Admission {
  enum class Operation { create, update, remove, connect };

  struct ObjectKind {
    std::string group, version, kind;
  };

  Operation operation = Operation::create;
  CallPtr call = {};
  KindPtr kind = {};
  std::string ns = {};
  std::string name = {};  // "" while a generated name is still to come
  std::string subresource = {};
  json::value object = {};  // what is to be stored; steps that mutate change it
  json::value before = {};  // null on creates
  bool dry_run = false;
  // Of an object that is not of the resource's own kind: a Binding, an Eviction, a Scale.
  std::optional<ObjectKind> object_kind = {};
  json::object delete_options = {};
};

using AdmissionPtr = std::shared_ptr<Admission>;

// A step between defaulting and storing. It may wait; meanwhile nothing else may touch the object.
class AdmissionStep {
 public:
  virtual ~AdmissionStep() = default;
  virtual Task<ApiResult<void>> admit(AdmissionPtr admission) = 0;

  // False if it would not look at objects of this kind, so that they need not be made ready for it.
  virtual bool attends(const Kind& kind) = 0;
};

struct Hooks {
  // Mutating webhooks, after defaults and the built-in mutators; validating ones, after validation.
  std::vector<std::shared_ptr<AdmissionStep>> mutating = {};
  std::vector<std::shared_ptr<AdmissionStep>> validating = {};
  // Kinds whose objects are computed rather than stored (metrics.k8s.io): asked for everything
  // below their group. Null: such a kind is an empty list.
  std::function<Task<ApiResult<net::Reply>>(CallPtr)> metrics = {};
};

}  // namespace plim::local::apiserver
