// Where other parts of the cluster extend the handling of requests. The list is explicit: each
// part sets its member.
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

// One write, between decoding and storing.
struct Admission {
  enum class Operation { create, update, remove, connect };

  struct ObjectKind {
    std::string group, version, kind;
  };

  Operation operation = Operation::create;
  CallPtr call = {};
  KindPtr kind = {};
  std::string ns = {};
  std::string name = {};  // "" if the name is not generated yet
  std::string subresource = {};
  json::value object = {};  // the object to store; mutating steps change it
  json::value before = {};  // null for creations
  bool dry_run = false;
  // Set if the object is of another kind than the resource: a Binding, an Eviction, a Scale.
  std::optional<ObjectKind> object_kind = {};
  json::object delete_options = {};
};

using AdmissionPtr = std::shared_ptr<Admission>;

// A step between defaulting and storing. It may wait; meanwhile no other task touches the object.
class AdmissionStep {
 public:
  virtual ~AdmissionStep() = default;
  virtual Task<ApiResult<void>> admit(AdmissionPtr admission) = 0;

  // False if the step ignores objects of this kind; then they need not be prepared for it.
  virtual bool attends(const Kind& kind) = 0;
};

struct Hooks {
  // Mutating webhooks run after defaults and built-in mutators, validating ones after validation.
  std::vector<std::shared_ptr<AdmissionStep>> mutating = {};
  std::vector<std::shared_ptr<AdmissionStep>> validating = {};
  // Handles kinds whose objects are computed and not stored (metrics.k8s.io): gets every request
  // below their group. Null: lists of such a kind are empty.
  std::function<Task<ApiResult<net::Reply>>(CallPtr)> metrics = {};
};

}  // namespace plim::local::apiserver
