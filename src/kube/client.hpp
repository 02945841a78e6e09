// Typed paths and verbs of the Kubernetes API over net::Client. Belongs to one loop.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/json.hpp"
#include "base/result.hpp"
#include "base/task.hpp"
#include "kube/config.hpp"
#include "net/client.hpp"

namespace plim::kube {

// A resource as the API serves it: "apps", "v1", "deployments".
struct Resource {
  std::string group;  // "" for core
  std::string version;
  std::string plural;
  std::string kind;
  bool namespaced = true;
};

// The resources Plimsoll uses itself. Others are written out or found by discovery.
namespace resources {
// NOLINTBEGIN(readability-identifier-naming): named as in Kubernetes
extern const Resource pods, nodes, namespaces, services, config_maps, secrets, service_accounts,
    events, endpoints, deployments, replica_sets, daemon_sets, jobs, leases,
    custom_resource_definitions, mutating_webhook_configurations, validating_webhook_configurations;
// NOLINTEND(readability-identifier-naming)
}  // namespace resources

// Names one object, or a collection if the name is empty. An empty ns of a namespaced resource
// means all namespaces.
struct ObjectPath {
  std::string ns;
  std::string name;
  std::string subresource = {};
};

std::string api_path(const Resource& resource, const ObjectPath& path);
std::string api_version(const Resource& resource);  // "v1", "apps/v1"

struct ListOptions {
  std::string ns = {};
  std::string label_selector = {};
  std::string field_selector = {};
  std::int64_t limit = 0;
  std::string continue_token = {};
  std::string resource_version = {};
  std::string resource_version_match = {};
};

struct WatchOptions {
  std::string ns = {};
  std::string label_selector = {};
  std::string field_selector = {};
  std::string resource_version = {};
  bool bookmarks = true;
  bool send_initial_events = false;   // WatchList; sets resourceVersionMatch=NotOlderThan with it
  std::chrono::seconds timeout{300};  // timeoutSeconds asked of the server
  std::chrono::milliseconds silence{0};  // longest wait for the next byte; 0: no limit
};

struct WriteOptions {
  bool dry_run = false;
  std::string field_manager = "plimsoll";
  bool force = false;                 // apply patches only
  std::string field_validation = {};  // Strict, Warn, Ignore
};

enum class PatchType { json, merge, strategic, apply };

struct DeleteOptions {
  std::optional<std::int64_t> grace_seconds = {};
  std::string propagation = {};  // Orphan, Background, Foreground
  std::string uid = {};          // preconditions
  std::string resource_version = {};
  bool dry_run = false;
};

// Default arguments copy these. Written as `= {}` g++ 12 would free them twice in every awaited
// call.
inline const WriteOptions kWriteDefaults{};
inline const DeleteOptions kDeleteDefaults{};

// The events of one watch, each a line of JSON as the server sent it.
class Watch {
 public:
  virtual ~Watch() = default;
  // nullopt: the server ended the watch regularly. If the connection breaks, an incomplete line is
  // dropped.
  virtual Task<Result<std::optional<std::string>>> next() = 0;
};

// Counters of a client, for metrics and tests.
struct ClientStats {
  std::uint64_t requests = 0;   // sent, each retry counted
  std::uint64_t retries = 0;    // asked for by the server, or after renewed credentials
  std::uint64_t throttled = 0;  // held back by our own rate limit
  Nanos throttled_for{0};       // total of all delays
};

// Sends a request again only when the server asks for it: 429 or 5xx with Retry-After, at most ten
// times, and once after a 401 if the credentials could be renewed. Watches are not rate limited.
class Client {
 public:
  static Result<std::shared_ptr<Client>> create(const Executor& loop, Config config,
                                                Clock& clock = system_clock());
  virtual ~Client() = default;

  // Errors carry the code, message and retry delay of the server's Status. Namespaced resources
  // need a namespace, except in lists and watches; create() takes the namespace of the object.
  virtual Task<Result<json::value>> get(Resource resource, ObjectPath path) = 0;
  // One page as received bytes: decoders read them without building a tree.
  virtual Task<Result<std::string>> list_page(Resource resource, ListOptions options) = 0;
  // All pages joined into one list object. Starts again at the first page if a continue token
  // expires.
  virtual Task<Result<json::value>> list(Resource resource, ListOptions options) = 0;
  virtual Task<Result<std::unique_ptr<Watch>>> watch(Resource resource, WatchOptions options) = 0;
  virtual Task<Result<json::value>> create(Resource resource, ObjectPath path, json::value object,
                                           WriteOptions options = kWriteDefaults) = 0;
  virtual Task<Result<json::value>> update(Resource resource, ObjectPath path, json::value object,
                                           WriteOptions options = kWriteDefaults) = 0;
  virtual Task<Result<json::value>> patch(Resource resource, ObjectPath path, PatchType type,
                                          json::value patch,
                                          WriteOptions options = kWriteDefaults) = 0;
  virtual Task<Result<json::value>> remove(Resource resource, ObjectPath path,
                                           DeleteOptions options = kDeleteDefaults) = 0;
  virtual Task<Result<json::value>> remove_collection(Resource resource, ListOptions which,
                                                      DeleteOptions options = kDeleteDefaults) = 0;

  // Any request with this client's credentials: /version, /healthz, the proxy of a Service. Returns
  // the answer whatever its status.
  virtual Task<Result<net::Response>> raw(net::Request request, net::CallOptions options = {}) = 0;
  // Many small requests that are safe to repeat, one after another on one connection: cheap, but
  // the last answer comes late. Returns the answers in order, whatever their status; never retries.
  virtual Task<std::vector<Result<net::Response>>> raw_pipelined(std::vector<net::Request> requests,
                                                                 net::CallOptions options = {});
  virtual Task<Result<std::unique_ptr<net::ResponseStream>>> raw_stream(
      net::Request request, net::CallOptions options = {}) = 0;

  virtual const Config& config() const = 0;

  virtual ClientStats stats() const { return {}; }
};

}  // namespace plim::kube
