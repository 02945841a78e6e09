// Deleting objects: at once, after a grace, or when their finalizers are gone.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/task.hpp"
#include "local/apiserver/api/call.hpp"
#include "local/apiserver/api/core.hpp"

namespace plim::local::apiserver {

// From the body or the query of a DELETE.
// Of a CustomResourceDefinition that goes, until its objects are gone.
inline constexpr std::string_view kCleanupFinalizer = "customresourcecleanup.apiextensions.k8s.io";

struct DeleteOptions {
  std::optional<std::int64_t> grace_seconds = {};
  std::string propagation = {};  // "" leaves the object's own finalizers alone
  std::string uid = {};
  std::string resource_version = {};
  bool dry_run = false;
  json::object as_sent = {};  // those that webhooks are told
};

ApiResult<DeleteOptions> parse_delete_options(const Call& call, const json::value& body);

struct DeleteRequest {
  CallPtr call;
  KindPtr kind;
  std::string ns = {};
  std::string name = {};
  DeleteOptions options = {};
  bool of_many = false;  // one of a collection: webhooks are not told its name
};

struct Deleted {
  store::Bytes bytes;  // the object as it was last
  bool gone = false;   // false: only marked
  std::string uid = {};
};

// Belongs to the store's loop.
class Deleter {
 public:
  explicit Deleter(Core& core) : core_(core) {}

  Task<ApiResult<Deleted>> remove(DeleteRequest request);

 private:
  Task<ApiResult<void>> admit(DeleteRequest request, store::EntryPtr entry);
  // Nothing: another writer was quicker.
  Task<ApiResult<std::optional<Deleted>>> try_remove(DeleteRequest request, store::EntryPtr entry);

  Core& core_;
};

// The answer: pods, services, namespaces and all that is only marked show themselves, the rest is
// a Status.
std::string encode_deleted(const Kind& kind, std::string_view name, const Deleted& deleted);

}  // namespace plim::local::apiserver
