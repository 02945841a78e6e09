// A small client of etcd, over the HTTP gateway that every etcd v3 has. Belongs to one loop.
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
  std::int64_t revision = 0;  // of its last change; changes with the value

  bool operator==(const EtcdKey&) const = default;
};

class EtcdClient {
 public:
  static Result<std::shared_ptr<EtcdClient>> create(const Executor& loop, EtcdOptions options);
  virtual ~EtcdClient() = default;

  virtual Task<Result<std::int64_t>> grant_lease(std::chrono::seconds life) = 0;
  // Renews the lease and returns its new lifetime; 0: the lease no longer exists.
  virtual Task<Result<std::chrono::seconds>> keep_lease(std::int64_t lease) = 0;
  // Writes all or none, at most 128. Lease 0: without a lease.
  virtual Task<Result<void>> put(std::vector<EtcdPut> puts, std::int64_t lease) = 0;
  // The keys that begin with `prefix`, without their values.
  virtual Task<Result<std::vector<EtcdKey>>> list_prefix(std::string prefix) = 0;
  // Code::not_found if the key does not exist.
  virtual Task<Result<std::string>> read(std::string key) = 0;
};

// The key where `plimsoll agent --images --publish=etcd` writes the inventory of a node. With an
// empty name the common prefix of all nodes.
std::string image_inventory_key(std::string_view cluster, std::string_view node);

}  // namespace plim::kube
