// Creates and changes objects: from a decoded object to the store.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/task.hpp"
#include "local/apiserver/api/call.hpp"
#include "local/apiserver/api/core.hpp"
#include "local/apiserver/api/hooks.hpp"
#include "local/apiserver/api/strategy.hpp"

namespace plim::local::apiserver {

// The result of a write.
struct Written {
  store::Bytes bytes;    // the object as it is now, or as it was when it was removed
  bool created = false;  // 201 instead of 200
};

struct CreateRequest {
  CallPtr call;
  KindPtr kind;
  std::string ns = {};
  json::value object = {};
  bool dry_run = false;
};

// Returns the new object for the stored one; called again if another writer was faster.
using Edit = std::function<ApiResult<json::value>(const json::value& now)>;

struct UpdateRequest {
  CallPtr call;
  KindPtr kind;
  std::string ns = {};
  std::string name = {};
  std::string subresource = {};
  Scope scope = Scope::main;
  Edit edit = {};
  bool dry_run = false;
  // Returns what webhooks see if that is not the object itself. Null result: webhooks are not
  // called, since they were called before.
  std::function<AdmissionPtr(const Admission&)> shown = {};
};

// Belongs to the store's loop.
class Writer {
 public:
  explicit Writer(Core& core) : core_(core) {}

  Task<ApiResult<Written>> create(CreateRequest request);
  // Removes an object that is being deleted and has lost its last finalizer.
  Task<ApiResult<Written>> update(UpdateRequest request);
  // Calls all webhooks for a write with an object of its own, such as a Binding.
  Task<ApiResult<void>> admit(AdmissionPtr admission);

 private:
  bool is_attended(const Kind& kind) const;
  // Prepares the object for webhooks: sets everything except what is set when it is stored.
  ApiResult<void> show(Admission& admission) const;
  Task<ApiResult<void>> mutate(AdmissionPtr admission);
  Task<ApiResult<void>> validate(AdmissionPtr admission);
  // Nothing if the name is taken.
  Task<ApiResult<std::optional<Written>>> store_new(AdmissionPtr admission);
  // Nothing if another writer was faster.
  Task<ApiResult<std::optional<Written>>> try_update(UpdateRequest request, store::EntryPtr entry);

  Core& core_;
};

// 404 or 403 if nothing may be created in the namespace.
ApiResult<void> check_namespace(const Core& core, const Kind& kind, std::string_view ns,
                                std::string_view name);

}  // namespace plim::local::apiserver
