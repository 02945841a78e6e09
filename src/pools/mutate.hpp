// The webhook of pools: checks the pool requests of pods, and makes pinned containers run through
// the starter. A pure function of the review, the pools and the settings.
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
  int smt_width = 2;  // threads of a core, for pools that allocate whole cores
  StarterDelivery delivery = StarterDelivery::hostpath;
  UnknownPool unknown_pool = UnknownPool::warn;
};

// Facts about a pool name from the files of all nodes: at admission the node of a pod is not known.
struct PoolFacts {
  PoolType type = PoolType::common;
  int largest = 0;           // the largest number of CPUs in one file
  bool whole_cores = false;  // multiThreaded in at least one file
  int shared_unit = 1;       // thousandths of a CPU per device of a shared pool; the largest

  // The largest amount that a node offers.
  int devices() const { return type == PoolType::shared ? largest * 1000 / shared_unit : largest; }
};

struct PoolCatalog {
  std::string base_name = std::string(kDefaultBaseName);
  std::map<std::string, PoolFacts, std::less<>> pools = {};

  static PoolCatalog of(const PoolConfig& config);
  const PoolFacts* find(std::string_view name) const;
  // By the prefix of the name if no file has the pool.
  PoolType type_of(std::string_view name) const;
};

kube::AdmissionAnswer mutate_pod(const kube::AdmissionReview& review, const PoolCatalog& pools,
                                 const MutateOptions& options);

}  // namespace plim::pools
