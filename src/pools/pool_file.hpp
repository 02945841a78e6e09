// One file of a pool configuration, in any of the historic shapes, without looking at a machine.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "pools/pool.hpp"

namespace plim::pools {

// Whole lines, "poolconfig.yaml:3:7: …"; all mistakes there are, not the first one only.
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
  bool has_pools = false;  // cpu-pooler.yaml of the middle shape has none
};

// A file with mistakes gives what could be read of it.
PoolFile parse_pool_file(std::string_view text, const std::string& path, Problems& problems);

// "1,4-7", blanks around the items; no signs, strides, empty items or backward ranges.
Result<CpuSet> parse_pool_cpus(std::string_view text);

// May stand behind the '/' of a resource's name.
bool is_pool_name(std::string_view name);
bool is_base_name(std::string_view name);

}  // namespace plim::pools
