// The pool configuration: chooses the file for this node and checks it against the machine.
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

// A directory gives poolconfig.yaml, poolconfig-*.yaml and cpu-pooler.yaml, by name. A file gives
// itself, or the entries of the ConfigMap in it. A directory that does not exist gives nothing.
Result<std::vector<ConfigText>> read_config_texts(const std::vector<std::string>& places);

struct PoolConfig {
  std::string base_name = std::string(kDefaultBaseName);
  std::vector<PoolFile> files;  // files with pools
};

PoolConfig parse_pool_config(const std::vector<ConfigText>& texts, Problems& problems);

// The file whose selector matches, else the one without a selector. Null: none, or more than one,
// which is an error in `problems`.
const PoolFile* choose_file(const PoolConfig& config, const NodeLabels& labels, Problems& problems);

// Checks the file against the machine. `usable` are the CPUs that pods may use; empty: all. The
// result is valid if there are no new errors.
NodePools plan_node(const PoolConfig& config, const PoolFile& file, const Topology& topology,
                    const CpuSet& usable, Problems& problems);

// Does all of the above. nullopt if there are errors; idle pools if no file is for this node.
std::optional<NodePools> load_node_pools(const std::vector<ConfigText>& texts,
                                         const NodeLabels& labels, const Topology& topology,
                                         const CpuSet& usable, Problems& problems);

// Parses "a=b,c=d".
Result<NodeLabels> parse_labels(std::string_view text);

}  // namespace plim::pools
