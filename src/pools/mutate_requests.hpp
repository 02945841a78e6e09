// What the containers of a pod ask of pools, and whether the annotation agrees.
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
  std::int64_t amount = 0;  // CPUs, or thousandths of a shared pool
  PoolType type = PoolType::common;
  const PoolFacts* facts = nullptr;  // null: in no configuration file
};

struct PoolUser {
  std::string pointer;  // "/spec/containers/0"
  const json::object* container = nullptr;
  std::string name = {};
  std::vector<PoolRequest> requests = {};

  bool asks(PoolType type) const;
  const PoolRequest* find(std::string_view pool) const;
};

// All containers and init containers of the pod in order, also those that ask for nothing. RES001.
Admitted<std::vector<PoolUser>> pool_users(const json::value& pod, const PoolCatalog& pools);

// RES002 and RES003; what is only strange becomes a warning.
Admitted<void> check_requests(const std::vector<PoolUser>& users, const PoolCatalog& pools,
                              UnknownPool unknown, std::vector<std::string>& warnings);

// ANN009 to ANN013.
Admitted<void> check_annotation(const Annotation& annotation, const std::vector<PoolUser>& users,
                                int smt_width);

// Thousandths of a CPU that the container may use in all; nullopt: its limit is not our matter.
std::optional<std::int64_t> cpu_quota(const PoolUser& user, CfsQuotas quotas, int smt_width);

}  // namespace plim::pools
