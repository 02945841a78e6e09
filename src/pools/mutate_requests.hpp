// The pool requests of a pod's containers, and checks of the annotation against them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/json.hpp"
#include "pools/annotation.hpp"
#include "pools/mutate.hpp"

namespace plim::pools {

struct PoolRequest {
  std::string pool;
  std::int64_t amount = 0;  // CPUs, or devices of a shared pool: thousandths of a CPU by default
  PoolType type = PoolType::common;
  const PoolFacts* facts = nullptr;  // null: no configuration file has the pool

  // Of a shared pool.
  std::int64_t millis() const { return amount * (facts == nullptr ? 1 : facts->shared_unit); }

  // Whether no node has so much.
  bool exceeds(std::int64_t sum) const {
    return facts != nullptr && type != PoolType::common && sum > facts->devices();
  }
};

struct PoolUser {
  std::string pointer;  // "/spec/containers/0"
  const json::object* container = nullptr;
  std::string name = {};
  std::vector<PoolRequest> requests = {};

  bool asks(PoolType type) const;
  const PoolRequest* find(std::string_view pool) const;
};

// All containers and init containers of the pod in order, also without requests. Checks RES001.
Admitted<std::vector<PoolUser>> pool_users(const json::value& pod, const PoolCatalog& pools);

// Checks RES002 and RES003; less severe findings become warnings.
Admitted<void> check_requests(const std::vector<PoolUser>& users, const PoolCatalog& pools,
                              UnknownPool unknown, std::vector<std::string>& warnings);

// Checks ANN009 to ANN013.
Admitted<void> check_annotation(const Annotation& annotation, const std::vector<PoolUser>& users,
                                int smt_width);

// The CPU limit of the container in thousandths; nullopt: the webhook does not set the limit.
std::optional<std::int64_t> cpu_quota(const PoolUser& user, CfsQuotas quotas, int smt_width);

}  // namespace plim::pools
