// The whole pool configuration: which file is for this node, and whether this machine can have it.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "pools/pool.hpp"
#include "pools/pool_file.hpp"
#include "pools/topology.hpp"

namespace plim::pools {

using NodeLabels = std::vector<std::pair<std::string, std::string>>;

struct ConfigText {
  std::string path, text;
};

// "poolconfig.yaml", "poolconfig-<x>.yaml", "cpu-pooler.yaml".
bool is_config_name(std::string_view name);

// Of a directory: poolconfig.yaml, poolconfig-*.yaml and cpu-pooler.yaml, by name; of a file: it
// itself, or the entries of a ConfigMap in it. Directories that are not there have none.
Result<std::vector<ConfigText>> read_config_texts(const std::vector<std::string>& places);

struct PoolConfig {
  std::string base_name = std::string(kDefaultBaseName);
  std::vector<PoolFile> files;  // those with pools
};

PoolConfig parse_pool_config(const std::vector<ConfigText>& texts, Problems& problems);

// The file whose selector matches, else the one without; null: none, or more than one (a problem).
const PoolFile* choose_file(const PoolConfig& config, const NodeLabels& labels, Problems& problems);

// Holds the file against the machine. `usable` are the CPUs that pods may have at all, empty for
// every one. Without new errors the answer can be used.
NodePools plan_node(const PoolConfig& config, const PoolFile& file, const Topology& topology,
                    const CpuSet& usable, Problems& problems);

// All of it: nullopt when there are errors; the idle one when no file is for this node.
std::optional<NodePools> load_node_pools(const std::vector<ConfigText>& texts,
                                         const NodeLabels& labels, const Topology& topology,
                                         const CpuSet& usable, Problems& problems);

// "a=b,c=d".
Result<NodeLabels> parse_labels(std::string_view text);

}  // namespace plim::pools
