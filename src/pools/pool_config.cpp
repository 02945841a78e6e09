#include "pools/pool_config.hpp"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "base/files.hpp"
#include "base/yaml.hpp"
#include "kube/paths.hpp"

namespace plim::pools {
namespace {

namespace fs = std::filesystem;

// How many devices fit into one message of a device list (4 MiB at 16 bytes each).
constexpr int kMaxDevices = 262'000;

// A ConfigMap manifest: its entries are the files that the kubelet would mount.
bool add_config_map(const ConfigText& file, std::vector<ConfigText>& out) {
  auto value = parse_yaml(file.text, file.path);
  if (!value || kube::text_at(*value, "ConfigMap.kind") != "ConfigMap") return false;
  const json::value* data = kube::find(*value, "ConfigMap.data");
  if (data == nullptr || !data->is_object()) return true;
  for (const auto& [key, text] : data->get_object())
    if (text.is_string() && is_config_name(key))
      out.push_back({fmt::format("{}[{}]", file.path, std::string_view(key)),
                     std::string(text.get_string())});
  return true;
}

bool matches(const PoolFile& file, const NodeLabels& labels) {
  return std::ranges::all_of(file.selector, [&](const auto& pair) {
    return std::ranges::find(labels, pair) != labels.end();
  });
}

// Checks pools against one machine, rule by rule. Every message names file, pool and CPUs.
class NodeCheck {
 public:
  NodeCheck(const PoolFile& file, const Topology& topology, const CpuSet& usable,
            Problems& problems)
      : file_(file), topology_(topology), usable_(usable), problems_(problems) {}

  void run() {
    for (const Pool& pool : file_.pools) {
      check_existence(pool);
      check_threads(pool);
      check_size(pool);
    }
    check_overlap();
    check_defaults();
  }

 private:
  void error(const Pool& pool, std::string_view message) {
    problems_.errors.push_back(
        located(pool.file, pool.at, fmt::format("pool {}: {}", pool.name, message)));
  }

  void warn(const Pool& pool, std::string_view message) {
    problems_.warnings.push_back(
        located(pool.file, pool.at, fmt::format("pool {}: {}", pool.name, message)));
  }

  void check_existence(const Pool& pool) {
    const CpuSet missing = pool.cpus - topology_.present;
    if (!missing.empty())
      error(pool, fmt::format("CPU {} does not exist; this machine has {}", missing.to_string(),
                              topology_.present.to_string()));
    const CpuSet outside = (pool.cpus & topology_.present) - usable_;
    if (!usable_.empty() && !outside.empty())
      error(pool, fmt::format("pods cannot use CPU {} on this machine; they may use {}",
                              outside.to_string(), usable_.to_string()));
  }

  void check_threads(const Pool& pool) {
    if (pool.type != PoolType::exclusive || pool.smt == SmtPolicy::none) return;
    CpuSet doubled, elsewhere;
    for (int cpu : pool.cpus) {
      const CpuSet others = topology_.siblings(cpu) - CpuSet{cpu};
      if (others.intersects(pool.cpus)) doubled.add(cpu);
      for (const Pool& other : file_.pools)
        if (&other != &pool && other.cpus.intersects(others)) elsewhere.add(cpu);
    }
    if (pool.smt == SmtPolicy::multi) {
      if (!doubled.empty())
        error(pool, fmt::format("CPU {} are threads of the same cores; with multiThreaded list one "
                                "thread of each",
                                doubled.to_string()));
      return;
    }
    if (!doubled.empty())
      warn(pool, fmt::format("SiblingShared: CPU {} are threads of the same cores, so two "
                             "containers may share a core; list one thread of each, or set "
                             "hyperThreadingPolicy: none",
                             doubled.to_string()));
    if (!elsewhere.empty())
      warn(pool, fmt::format("SiblingShared: other threads of the cores of CPU {} are in other "
                             "pools",
                             elsewhere.to_string()));
  }

  void check_size(const Pool& pool) {
    if (pool.type != PoolType::shared) return;
    if (pool.cpus.count() * pool.devices_per_cpu() <= kMaxDevices) return;
    error(pool, fmt::format("{} CPUs in steps of {}m are more devices than a kubelet takes; set "
                            "sharedUnit: {}m",
                            pool.cpus.count(), pool.shared_unit, pool.shared_unit * 10));
  }

  void check_overlap() {
    for (std::size_t i = 0; i < file_.pools.size(); ++i)
      for (std::size_t j = 0; j < i; ++j) {
        const Pool& pool = file_.pools[i];
        const Pool& other = file_.pools[j];
        const CpuSet both = pool.members(topology_) & other.members(topology_);
        if (both.empty()) continue;
        const bool implied = !(both - (pool.cpus & other.cpus)).empty();
        error(pool,
              fmt::format("CPU {} is in pool {} too{}", both.to_string(), other.name,
                          implied ? " (multiThreaded pools have all threads of a core)" : ""));
      }
  }

  void check_defaults() {
    const Pool* first = nullptr;
    for (const Pool& pool : file_.pools) {
      if (pool.type != PoolType::common) continue;
      if (first != nullptr)
        error(pool, fmt::format("{} is a default pool already, and there is one; a name that "
                                "begins with exclusive or shared, or pooltype, makes another kind",
                                first->name));
      else
        first = &pool;
    }
  }

  const PoolFile& file_;
  const Topology& topology_;
  const CpuSet& usable_;
  Problems& problems_;
};

CpuSet implied_default(const PoolFile& file, const Topology& topology, const CpuSet& usable) {
  CpuSet out = topology.present;
  if (!usable.empty()) out &= usable;
  for (const Pool& pool : file.pools) {
    out -= pool.members(topology);
    if (pool.type != PoolType::exclusive) continue;
    for (int cpu : pool.cpus) out -= pool.claimed(cpu, topology);
  }
  return out;
}

}  // namespace

bool is_config_name(std::string_view name) {
  return name == "cpu-pooler.yaml" || name == "poolconfig.yaml" ||
         (name.starts_with("poolconfig-") && name.ends_with(".yaml"));
}

Result<std::vector<ConfigText>> read_config_texts(const std::vector<std::string>& places) {
  std::vector<ConfigText> out;
  for (const std::string& place : places) {
    std::error_code error;
    if (!fs::is_directory(place, error)) {
      if (!fs::exists(place, error))
        return fail(Code::not_found, fmt::format("{} does not exist", place));
      PLIM_TRY(std::string text, read_file(place));
      ConfigText file{place, std::move(text)};
      if (!add_config_map(file, out)) out.push_back(std::move(file));
      continue;
    }
    std::vector<std::string> names;
    for (fs::directory_iterator at(place, error), end; !error && at != end; at.increment(error))
      if (is_config_name(at->path().filename().string())) names.push_back(at->path().string());
    std::ranges::sort(names);
    for (const std::string& name : names) {
      PLIM_TRY(std::string text, read_file(name));
      out.push_back({name, std::move(text)});
    }
  }
  return out;
}

PoolConfig parse_pool_config(const std::vector<ConfigText>& texts, Problems& problems) {
  PoolConfig out;
  const PoolFile* named = nullptr;
  std::vector<PoolFile> all;
  all.reserve(texts.size());
  for (const ConfigText& text : texts) {
    const std::size_t before = problems.errors.size();
    PoolFile& file = all.emplace_back(parse_pool_file(text.text, text.path, problems));
    if (file.base_name) {
      if (named == nullptr) {
        named = &file;
        out.base_name = *file.base_name;
      } else if (*file.base_name != out.base_name) {
        problems.errors.push_back(
            fmt::format("{}: resourceBaseName {} differs from {} in {}; all files have the same",
                        file.path, *file.base_name, out.base_name, named->path));
      }
    } else if (!file.has_pools && problems.errors.size() == before) {
      problems.errors.push_back(fmt::format("{}: the file has no pools", file.path));
    }
  }
  const PoolFile* fallback = nullptr;
  for (const PoolFile& file : all) {
    if (!file.has_pools || file.has_selector) continue;
    if (fallback != nullptr)
      problems.errors.push_back(
          fmt::format("{}: it has no nodeSelector, and neither has {}; only one file can be for "
                      "all other nodes",
                      file.path, fallback->path));
    fallback = &file;
  }
  for (PoolFile& file : all)
    if (file.has_pools) out.files.push_back(std::move(file));
  return out;
}

const PoolFile* choose_file(const PoolConfig& config, const NodeLabels& labels,
                            Problems& problems) {
  const PoolFile* chosen = nullptr;
  const PoolFile* fallback = nullptr;
  for (const PoolFile& file : config.files) {
    if (!file.has_selector) {
      fallback = &file;
    } else if (matches(file, labels)) {
      if (chosen != nullptr)
        problems.errors.push_back(
            fmt::format("{}: its nodeSelector matches this node, and so does that of {}; make them "
                        "exclude each other",
                        file.path, chosen->path));
      chosen = &file;
    }
  }
  return chosen != nullptr ? chosen : fallback;
}

NodePools plan_node(const PoolConfig& config, const PoolFile& file, const Topology& topology,
                    const CpuSet& usable, Problems& problems) {
  NodeCheck(file, topology, usable, problems).run();
  NodePools out{.base_name = config.base_name, .file = file.path, .pools = file.pools};
  std::ranges::sort(out.pools, {}, &Pool::name);
  const auto explicit_default = std::ranges::find(out.pools, PoolType::common, &Pool::type);
  if (explicit_default != out.pools.end() && !explicit_default->cpus.empty()) {
    out.default_cpus = explicit_default->cpus;
    out.default_is_explicit = true;
  } else if (file.implicit_default) {
    out.default_cpus = implied_default(file, topology, usable);
    if (out.default_cpus.empty())
      problems.warnings.push_back(fmt::format(
          "{}: no CPU is left for containers without a pool; their CPUs are not set", file.path));
  }
  return out;
}

std::optional<NodePools> load_node_pools(const std::vector<ConfigText>& texts,
                                         const NodeLabels& labels, const Topology& topology,
                                         const CpuSet& usable, Problems& problems) {
  const PoolConfig config = parse_pool_config(texts, problems);
  if (!problems.errors.empty()) return std::nullopt;
  const PoolFile* file = choose_file(config, labels, problems);
  if (!problems.errors.empty()) return std::nullopt;
  if (file == nullptr) return NodePools{.base_name = config.base_name};
  NodePools out = plan_node(config, *file, topology, usable, problems);
  if (!problems.errors.empty()) return std::nullopt;
  return out;
}

Result<NodeLabels> parse_labels(std::string_view text) {
  NodeLabels out;
  if (trim(text).empty()) return out;
  for (std::string_view item : split(text, ',')) {
    const auto [key, value] = cut(trim(item), '=');
    if (key.empty() || key.size() == trim(item).size())
      return fail(Code::invalid, fmt::format("{} is not a label; write key=value", quote(item)));
    out.emplace_back(key, value);
  }
  return out;
}

}  // namespace plim::pools
