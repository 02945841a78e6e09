// What the webhook does with pods: checks what they ask of pools and makes pinned containers start
// by the starter. A pure function of the review, the pools and the settings.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "kube/admission.hpp"
#include "pools/pool.hpp"
#include "pools/pool_config.hpp"

namespace plim::pools {

enum class CfsQuotas { all, shared, none };
enum class StarterDelivery { hostpath, plugin };
enum class UnknownPool { warn, reject, allow };

struct MutateOptions {
  std::string starter_path = "/opt/bin/process-starter";
  CfsQuotas cfs_quotas = CfsQuotas::all;
  int smt_width = 2;  // threads of a core, where a pool hands out whole cores
  StarterDelivery delivery = StarterDelivery::hostpath;
  UnknownPool unknown_pool = UnknownPool::warn;
};

// One name over the files of all nodes, since nobody knows the node of a pod at admission.
struct PoolFacts {
  PoolType type = PoolType::common;
  int largest = 0;           // CPUs listed, where there are most
  bool whole_cores = false;  // multiThreaded somewhere
};

struct PoolCatalog {
  std::string base_name = std::string(kDefaultBaseName);
  std::map<std::string, PoolFacts, std::less<>> pools = {};

  static PoolCatalog of(const PoolConfig& config);
  const PoolFacts* find(std::string_view name) const;
  // By the prefix of its name where no file has it.
  PoolType type_of(std::string_view name) const;
};

kube::AdmissionAnswer mutate_pod(const kube::AdmissionReview& review, const PoolCatalog& pools,
                                 const MutateOptions& options);

}  // namespace plim::pools
