#include "pools/cpuset_tree.hpp"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "base/files.hpp"
#include "base/text.hpp"
#include "node/cgroup_layout.hpp"
#include "node/cgroup_names.hpp"

namespace plim::pools {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> directories_in(const std::string& path) {
  std::vector<std::string> out;
  std::error_code error;
  for (fs::directory_iterator at(path, error), end; !error && at != end; at.increment(error)) {
    std::error_code ignored;
    if (at->is_directory(ignored)) out.push_back(at->path().string());
  }
  std::ranges::sort(out);
  return out;
}

std::string_view name_of(std::string_view path) {
  return path.substr(path.rfind('/') + 1);
}

bool is_there(const std::string& path) {
  std::error_code ignored;
  return fs::is_directory(path, ignored);
}

std::string file_in(const std::string& path) {
  return path + "/cpuset.cpus";
}

// The cgroup root of the kubelet that started this process, from the text of /proc/self/cgroup. A
// machine may have several kubelets. nullopt: it is not in a pod, or sees its cgroup as the root.
std::optional<std::string> kubelet_base(std::string_view own, const std::string& mount, bool v2) {
  for (std::string_view line : split(own, '\n')) {
    const auto [number, rest] = cut(line, ':');
    const auto [controllers, path] = cut(rest, ':');
    const auto names = split(controllers, ',');
    const bool ours = v2 ? controllers.empty() : std::ranges::find(names, "cpuset") != names.end();
    const std::size_t pods = path.find("/kubepods");
    if (!ours || pods == path.npos) continue;
    std::string base(path.substr(0, pods));
    const std::string above = fmt::format("{}{}/kubepods", mount, base);
    if (is_there(above) || is_there(above + ".slice")) return base;
  }
  return std::nullopt;
}

CpuSet effective_in(const std::string& path) {
  auto text = read_file(path + "/cpuset.cpus.effective");
  if (!text) text = read_file(path + "/cpuset.effective_cpus");
  return text ? parse_cpu_list(*text).value_or(CpuSet()) : CpuSet();
}

}  // namespace

Result<CpusetTree> CpusetTree::open(const CpusetTreeOptions& options) {
  CpusetTree out;
  if (!options.pods.empty()) {
    std::error_code ignored;
    out.v2_ = fs::exists(options.pods + "/cgroup.controllers", ignored);
    out.roots_ = {options.pods};
    return out;
  }
  const node::CgroupLayout layout = node::detect_cgroups(options.host_root);
  const node::CgroupMount* mount = layout.find("cpuset");
  if (mount == nullptr)
    return fail(
        Code::not_found,
        fmt::format("no cpuset cgroups below {}; set --cpusetroot to the directory of the pods",
                    options.host_root));
  out.v2_ = mount->v2;
  std::vector<std::string> bases{options.cgroup_root};
  if (options.cgroup_root.empty()) {
    const std::string own = read_file(options.own_cgroup).value_or("");
    if (auto base = kubelet_base(own, mount->directory, mount->v2))
      bases = {std::move(*base)};
    else
      bases.emplace_back("/kubelet");
  }
  for (std::string base : bases) {
    while (base.ends_with('/')) base.pop_back();
    if (!base.empty() && base.front() != '/') base.insert(0, "/");
    for (auto driver : {node::CgroupDriver::systemd, node::CgroupDriver::cgroupfs})
      out.roots_.push_back(fmt::format("{}{}/{}", mount->directory, base,
                                       node::qos_cgroup(driver, node::Qos::guaranteed)));
  }
  return out;
}

std::vector<std::string> CpusetTree::pod_directories() const {
  std::vector<std::string> out;
  for (const std::string& root : roots_)
    for (const std::string& path : directories_in(root)) {
      if (!node::pod_uid_of(name_of(path)).empty()) out.push_back(path);
      if (!node::is_qos_cgroup(name_of(path))) continue;
      for (const std::string& below : directories_in(path))
        if (!node::pod_uid_of(name_of(below)).empty()) out.push_back(below);
    }
  return out;
}

std::vector<ContainerCgroup> CpusetTree::scan() const {
  std::vector<ContainerCgroup> out;
  for (const std::string& pod : pod_directories())
    for (const std::string& path : directories_in(pod))
      out.push_back({path, node::pod_uid_of(name_of(pod)), node::container_id_of(name_of(path))});
  return out;
}

std::vector<std::string> CpusetTree::watched() const {
  std::vector<std::string> out = pod_directories();
  for (const std::string& root : roots_) {
    std::string nearest = root;
    while (!nearest.empty() && !is_there(nearest)) nearest.resize(nearest.rfind('/'));
    if (nearest.empty()) continue;
    out.push_back(nearest);
    if (nearest != root) continue;
    for (const std::string& path : directories_in(root))
      if (node::is_qos_cgroup(name_of(path))) out.push_back(path);
  }
  std::ranges::sort(out);
  out.erase(std::ranges::unique(out).begin(), out.end());
  return out;
}

std::optional<CpusetTree::Set> CpusetTree::read(const std::string& path) const {
  auto text = read_file(file_in(path));
  if (!text) return std::nullopt;
  auto cpus = parse_cpu_list(trim(*text));
  if (!cpus) return std::nullopt;
  const bool inherited = trim(*text).empty();
  if (!inherited && !v2_) return Set{.cpus = std::move(*cpus)};
  CpuSet effective = effective_in(path);
  // If no written CPU is usable, cgroup v2 gives all CPUs of the parent.
  if (inherited || !effective.is_subset_of(*cpus))
    return Set{.cpus = std::move(effective), .inherited = inherited};
  return Set{.cpus = std::move(*cpus)};
}

Result<void> CpusetTree::write_here(const std::string& path, const CpuSet& cpus) const {
  return write_existing_file(file_in(path), cpus.to_string());
}

// cgroup v1 rejects CPUs that the parent does not have.
Result<void> CpusetTree::grow_above(const std::string& path, const CpuSet& cpus) const {
  for (const std::string& root : roots_) {
    if (!path.starts_with(root + "/")) continue;
    for (std::size_t at = path.find('/', root.size() + 1); at != path.npos;
         at = path.find('/', at + 1)) {
      const std::string above = path.substr(0, at);
      const auto now = read(above);
      if (now && !cpus.is_subset_of(now->cpus)) PLIM_CHECK(write_here(above, now->cpus | cpus));
    }
  }
  return {};
}

Result<void> CpusetTree::write(const std::string& path, const CpuSet& cpus) const {
  const auto now = read(path);
  if (!now) return fail(Code::not_found, fmt::format("{} was removed", path));
  if (!v2_) {
    PLIM_CHECK(grow_above(path, cpus));
    const CpuSet both = now->cpus | cpus;
    if (both != now->cpus) PLIM_CHECK(write_here(path, both));
  } else if (now->cpus != cpus || now->inherited) {
    PLIM_CHECK(write_here(path, cpus));
    const auto done = read(path);
    if (done && !done->cpus.is_subset_of(cpus))
      return fail(Code::unavailable, fmt::format("{} was set to {}, but has {}", path,
                                                 cpus.to_string(), done->cpus.to_string()));
  }
  for (const std::string& below : directories_in(path)) {
    auto written = write(below, cpus);
    if (!written && written.error().code != Code::not_found) return written;
  }
  if (!v2_) return write_here(path, cpus);
  return {};
}

CpuSet CpusetTree::usable() const {
  for (const std::string& root : roots_) {
    const auto set = read(root);
    if (set && !set->cpus.empty()) return set->cpus;
  }
  return {};
}

std::vector<int> CpusetTree::processes(const std::string& path) const {
  std::vector<int> out;
  auto text = read_file(path + "/cgroup.procs");
  if (!text) return out;
  for (std::string_view line : split(*text, '\n'))
    if (auto pid = parse_int(trim(line))) out.push_back(*pid);
  return out;
}

}  // namespace plim::pools
