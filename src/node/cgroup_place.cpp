// Finds where this process may create cgroups.
#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <unistd.h>

#include <fmt/format.h>

#include "base/files.hpp"
#include "base/text.hpp"
#include "node/cgroup_files.hpp"
#include "node/cgroup_tree.hpp"

namespace plim::node {
namespace {

constexpr std::array<std::string_view, 4> kWantedV2{"cpu", "cpuset", "memory", "pids"};
constexpr std::array<std::string_view, 7> kWantedV1{"cpu",  "cpuacct",    "cpuset", "memory",
                                                    "pids", "perf_event", "freezer"};
constexpr std::string_view kControl = "control";  // this process moves there on version 2

struct Spot {
  const CgroupMount* mount;
  std::string own;   // the cgroup of this process, below the mount
  std::string path;  // the new cgroup: there or deeper
};

bool is_wanted(const CgroupMount& mount) {
  if (mount.v2) return true;
  return std::ranges::any_of(kWantedV1, [&](std::string_view name) { return mount.has(name); });
}

// "/a/b" in a mount that shows "/a" is "/b". Nothing if it is outside.
std::optional<std::string> below_mount(const CgroupMount& mount, std::string path) {
  if (mount.root != "/") {
    if (path != mount.root && !path.starts_with(mount.root + "/")) return std::nullopt;
    path.erase(0, mount.root.size());
  }
  while (path.ends_with('/')) path.pop_back();
  return path;
}

bool is_within(std::string_view path, std::string_view ancestor) {
  return path == ancestor || (path.starts_with(ancestor) && path[ancestor.size()] == '/');
}

std::vector<Spot> find_places(const CgroupLayout& layout, const CgroupMembership& self,
                              const std::string& name) {
  std::vector<Spot> out;
  for (const CgroupMount& mount : layout.mounts) {
    if (!is_wanted(mount)) continue;
    auto path = below_mount(mount, self.path_in(mount));
    if (!path) continue;
    // Started by a process of ours: do not nest.
    if (const std::size_t nested = path->find("/" + name + "/"); nested != path->npos)
      path->erase(nested);
    out.push_back({&mount, *path, *path});
  }
  // Readers expect one path in all hierarchies. Use the deepest if it is inside the others' paths.
  auto deepest = std::ranges::max_element(out, {}, [](const Spot& p) { return p.path.size(); });
  if (deepest == out.end()) return out;
  const std::string common = deepest->path;
  if (std::ranges::all_of(out, [&](const Spot& p) { return is_within(common, p.path); }))
    for (Spot& place : out) place.path = common;
  return out;
}

std::vector<std::string> wanted_controllers(const CgroupMount& mount,
                                            const std::string& directory) {
  std::vector<std::string> out;
  if (!mount.v2) {
    for (std::string_view name : kWantedV1)
      if (mount.has(name)) out.emplace_back(name);
    return out;
  }
  const std::string offered = " " + read_cgroup_file(directory + "/cgroup.controllers") + " ";
  for (std::string_view name : kWantedV2)
    if (offered.find(fmt::format(" {} ", name)) != offered.npos) out.emplace_back(name);
  return out;
}

// Moves this process out of its cgroup, since a cgroup of version 2 with processes cannot enable
// controllers for its children. Only the root cgroup can.
Result<void> step_aside(const std::string& own, const std::string& name,
                        const std::vector<std::string>& controllers) {
  const std::string top = own + "/" + name;
  PLIM_CHECK(make_directory(top));
  const std::string enable = subtree_change('+', controllers);
  if (enable.empty() || write_cgroup_file(own + "/cgroup.subtree_control", enable)) return {};
  const std::string control = fmt::format("{}/{}", top, kControl);
  PLIM_CHECK(make_directory(control));
  PLIM_CHECK(write_cgroup_file(control + "/cgroup.procs", "0"));
  auto enabled = write_cgroup_file(own + "/cgroup.subtree_control", enable);
  if (enabled) return {};
  if (enabled.error().errno_value == EBUSY)
    return fail(
        Code::unavailable,
        fmt::format(
            "cgroup {} contains other processes; start this one in its own cgroup, for example "
            "with systemd-run --user --scope -p Delegate=yes",
            own));
  return enabled;
}

Result<CgroupTree::Branch> make_branch(const Spot& place, const std::string& name) {
  const CgroupMount& mount = *place.mount;
  if (mount.read_only)
    return fail(Code::forbidden, fmt::format("{} is mounted read-only", mount.directory));
  const std::string own = mount.directory + place.path;
  CgroupTree::Branch out{.directory = own,
                         .controllers = wanted_controllers(mount, own),
                         .v2 = mount.v2,
                         .own = mount.directory + place.own};
  if (out.v2) {
    PLIM_CHECK(step_aside(own, name, out.controllers));
    return out;
  }
  const CgroupTree top({{.directory = mount.directory, .controllers = out.controllers}});
  PLIM_CHECK(top.make_below(place.path.substr(std::min<std::size_t>(1, place.path.size())) +
                            (place.path.empty() ? "" : "/") + name));
  return out;
}

}  // namespace

Result<CgroupTree> CgroupTree::make_below_own(const std::string& host_root,
                                              const std::string& name) {
  const CgroupLayout layout = detect_cgroups(host_root);
  if (layout.mounts.empty()) return fail(Code::unavailable, "no cgroup hierarchy is mounted");
  const std::string self = host_root == "/" ? "/proc/self/cgroup" : host_root + "/proc/self/cgroup";
  const auto membership = CgroupMembership::parse(read_file(self).value_or(""));
  CgroupTree own;
  std::string missing;
  for (const Spot& place : find_places(layout, membership, name)) {
    auto branch = make_branch(place, name);
    if (branch) {
      if (own.branches_.empty()) own.path_ = place.path;
      own.branches_.push_back(std::move(*branch));
    } else {
      missing += (missing.empty() ? "" : "; ") + branch.error().message;
    }
  }
  const bool useful = std::ranges::any_of(
      own.branches_, [](const Branch& branch) { return !branch.controllers.empty(); });
  if (!useful)
    return fail(Code::unavailable, missing.empty() ? "no cgroup controller is available" : missing);
  return own.below(name);
}

Result<void> CgroupTree::remove_own() const {
  for (const Branch& branch : branches_) {
    const std::string control = fmt::format("{}/{}", branch.directory, kControl);
    const auto children = child_directories(branch.directory);
    if (!branch.v2 || children != std::vector{control}) continue;
    const std::string own = std::filesystem::path(branch.directory).parent_path();
    PLIM_CHECK(write_cgroup_file(branch.directory + "/cgroup.subtree_control",
                                 subtree_change('-', branch.controllers)));
    PLIM_CHECK(write_cgroup_file(own + "/cgroup.subtree_control",
                                 subtree_change('-', branch.controllers)));
    PLIM_CHECK(write_cgroup_file(own + "/cgroup.procs", "0"));
  }
  PLIM_CHECK(remove());
  for (const Branch& branch : branches_) {
    auto above = std::filesystem::path(branch.directory).parent_path();
    while (!branch.own.empty() && above.native().size() > branch.own.size() &&
           ::rmdir(above.c_str()) == 0)
      above = above.parent_path();
  }
  return {};
}

}  // namespace plim::node
