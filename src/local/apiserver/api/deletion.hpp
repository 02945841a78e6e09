// Deletes objects: at once, after a grace period, or when their finalizers are removed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/task.hpp"
#include "local/apiserver/api/call.hpp"
#include "local/apiserver/api/core.hpp"

namespace plim::local::apiserver {

// Of a CustomResourceDefinition that is being deleted, until its objects are gone.
inline constexpr std::string_view kCleanupFinalizer = "customresourcecleanup.apiextensions.k8s.io";

struct DeleteOptions {
  std::optional<std::int64_t> grace_seconds = {};
  std::string propagation = {};  // "" keeps the finalizers of the object
  std::string uid = {};
  std::string resource_version = {};
  bool dry_run = false;
  json::object as_sent = {};  // the options as webhooks see them
};

ApiResult<DeleteOptions> parse_delete_options(const Call& call, const json::value& body);

struct DeleteRequest {
  CallPtr call;
  KindPtr kind;
  std::string ns = {};
  std::string name = {};
  DeleteOptions options = {};
  bool of_many = false;  // one of a collection: webhooks do not get its name
};

struct Deleted {
  store::Bytes bytes;  // the last state of the object
  bool gone = false;   // false: only marked as deleted
  std::string uid = {};
};

// Belongs to the store's loop.
class Deleter {
 public:
  explicit Deleter(Core& core) : core_(core) {}

  Task<ApiResult<Deleted>> remove(DeleteRequest request);

 private:
  Task<ApiResult<void>> admit(DeleteRequest request, store::EntryPtr entry);
  // Nothing if another writer changed the object meanwhile.
  Task<ApiResult<std::optional<Deleted>>> try_remove(DeleteRequest request, store::EntryPtr entry);

  Core& core_;
};

// The response: pods, services, namespaces and everything that is only marked return the object,
// the rest a Status.
std::string encode_deleted(const Kind& kind, std::string_view name, const Deleted& deleted);

}  // namespace plim::local::apiserver
