// Parses one file of a pool configuration, in any historic format. Does not look at the machine.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "pools/pool.hpp"

namespace plim::pools {

// Complete messages, "poolconfig.yaml:3:7: …", for all mistakes and not only the first.
struct Problems {
  std::vector<std::string> errors, warnings;
};

struct PoolFile {
  std::string path;
  std::optional<std::string> base_name = {};
  bool has_selector = false;
  std::vector<std::pair<std::string, std::string>> selector = {};
  bool implicit_default = true;
  std::vector<Pool> pools = {};
  bool has_pools = false;  // false for cpu-pooler.yaml of the second format
};

// If the file has mistakes, returns the parts that could be read.
PoolFile parse_pool_file(std::string_view text, const std::string& path, Problems& problems);

// Parses "1,4-7" with optional blanks around items. Rejects signs, strides, empty items and
// backward ranges.
Result<CpuSet> parse_pool_cpus(std::string_view text);

// Whether the name can follow the '/' in the name of a resource.
bool is_pool_name(std::string_view name);
bool is_base_name(std::string_view name);

}  // namespace plim::pools
