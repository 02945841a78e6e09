// The few things we ask of an etcd itself, over the HTTP gateway that every etcd v3 has. Belongs to
// one loop.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "base/task.hpp"
#include "net/tls.hpp"

namespace plim::kube {

struct EtcdOptions {
  std::vector<std::string> endpoints;  // "https://10.0.0.1:2379", tried in turn
  net::ClientTls tls = {};
};

struct EtcdPut {
  std::string key, value;
};

struct EtcdKey {
  std::string key;
  std::int64_t revision = 0;  // of its last change; another one: another value

  bool operator==(const EtcdKey&) const = default;
};

class EtcdClient {
 public:
  static Result<std::shared_ptr<EtcdClient>> create(const Executor& loop, EtcdOptions options);
  virtual ~EtcdClient() = default;

  virtual Task<Result<std::int64_t>> grant_lease(std::chrono::seconds life) = 0;
  // How long it lives from now; 0: there is no such lease any more.
  virtual Task<Result<std::chrono::seconds>> keep_lease(std::int64_t lease) = 0;
  // All or none, at most 128; 0: without a lease.
  virtual Task<Result<void>> put(std::vector<EtcdPut> puts, std::int64_t lease) = 0;
  // The keys that begin with this, without their values.
  virtual Task<Result<std::vector<EtcdKey>>> list_prefix(std::string prefix) = 0;
  // Code::not_found: there is no such key, or no longer.
  virtual Task<Result<std::string>> read(std::string key) = 0;
};

// Where `plimsoll agent --images --publish=etcd` puts the inventory of a node; with an empty name
// what all of a cluster's keys begin with.
std::string image_inventory_key(std::string_view cluster, std::string_view node);

}  // namespace plim::kube
