// Creating and changing objects: from a decoded object to the store.
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

// What a write left behind.
struct Written {
  store::Bytes bytes;    // the object as it is now, or was when it went
  bool created = false;  // 201 rather than 200
};

struct CreateRequest {
  CallPtr call;
  KindPtr kind;
  std::string ns = {};
  json::value object = {};
  bool dry_run = false;
};

// The new object for what is stored now; called again when another writer was quicker.
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
  // Where webhooks are asked about something else than the object: about what. Null: about nothing,
  // they were asked before.
  std::function<AdmissionPtr(const Admission&)> shown = {};
};

// Belongs to the store's loop.
class Writer {
 public:
  explicit Writer(Core& core) : core_(core) {}

  Task<ApiResult<Written>> create(CreateRequest request);
  // An object that is being deleted and has lost its last finalizer is removed.
  Task<ApiResult<Written>> update(UpdateRequest request);
  // Asks all webhooks about a write that has an object of its own, such as a Binding.
  Task<ApiResult<void>> admit(AdmissionPtr admission);

 private:
  bool is_attended(const Kind& kind) const;
  // Makes of what was sent what webhooks see: all but what only storing gives it.
  ApiResult<void> show(Admission& admission) const;
  Task<ApiResult<void>> mutate(AdmissionPtr admission);
  Task<ApiResult<void>> validate(AdmissionPtr admission);
  // Nothing: the name is taken.
  Task<ApiResult<std::optional<Written>>> store_new(AdmissionPtr admission);
  // Nothing: another writer was quicker.
  Task<ApiResult<std::optional<Written>>> try_update(UpdateRequest request, store::EntryPtr entry);

  Core& core_;
};

// 404 or 403 where nothing may be created.
ApiResult<void> check_namespace(const Core& core, const Kind& kind, std::string_view ns,
                                std::string_view name);

}  // namespace plim::local::apiserver
