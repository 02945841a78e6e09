#include "node/cgroup_layout.hpp"

#include <algorithm>
#include <array>
#include <filesystem>

#include "base/files.hpp"
#include "base/text.hpp"

namespace plim::node {
namespace {

constexpr std::array<std::string_view, 14> kControllers{
    "cpu",   "cpuacct", "cpuset",  "memory",   "pids", "perf_event", "freezer",
    "blkio", "devices", "net_cls", "net_prio", "rdma", "misc",       "hugetlb",
};

bool is_controller(std::string_view name) {
  return std::ranges::find(kControllers, name) != kControllers.end() || name.starts_with("name=");
}

// mountinfo encodes a space as \040.
std::string unescape(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 3 < text.size()) {
      auto code = parse_int<unsigned>(text.substr(i + 1, 3), 8);
      if (code && *code < 256) {
        out += static_cast<char>(*code);
        i += 3;
        continue;
      }
    }
    out += text[i];
  }
  return out;
}

std::string below(const std::string& host_root, std::string_view path) {
  std::string out = host_root;
  while (out.ends_with('/')) out.pop_back();
  return out + std::string(path);
}

std::vector<std::string> words(std::string_view text) {
  std::vector<std::string> out;
  for (std::string_view word : split(trim(text), ' '))
    if (!word.empty()) out.emplace_back(word);
  return out;
}

bool has_option(std::string_view options, std::string_view wanted) {
  const auto all = split(options, ',');
  return std::ranges::find(all, wanted) != all.end();
}

CgroupLayout look_around(const std::string& host_root) {
  CgroupLayout out;
  const std::string base = below(host_root, "/sys/fs/cgroup");
  std::error_code ignored;
  if (std::filesystem::exists(base + "/cgroup.controllers", ignored)) {
    out.mounts.push_back({.directory = base, .v2 = true});
    out.mounts.back().controllers = words(read_cgroup_file(base + "/cgroup.controllers"));
    return out;
  }
  for (const auto& entry : std::filesystem::directory_iterator(base, ignored)) {
    CgroupMount mount{.directory = entry.path().string()};
    const std::string names = entry.path().filename().string();
    for (std::string_view name : split(names, ','))
      if (is_controller(name)) mount.controllers.emplace_back(name);
    if (!mount.controllers.empty()) out.mounts.push_back(std::move(mount));
  }
  std::ranges::sort(out.mounts, {}, &CgroupMount::directory);
  return out;
}

}  // namespace

bool CgroupMount::has(std::string_view controller) const {
  return std::ranges::find(controllers, controller) != controllers.end();
}

const CgroupMount* CgroupLayout::find(std::string_view controller) const {
  for (bool v2 : {false, true})
    for (const CgroupMount& mount : mounts)
      if (mount.v2 == v2 && mount.has(controller)) return &mount;
  return nullptr;
}

const CgroupMount* CgroupLayout::unified() const {
  auto found = std::ranges::find(mounts, true, &CgroupMount::v2);
  return found == mounts.end() ? nullptr : &*found;
}

bool CgroupLayout::is_v2() const {
  const auto holds_controllers = [](const CgroupMount& mount) {
    return !mount.v2 && std::ranges::any_of(mount.controllers, [](const std::string& name) {
      return !name.starts_with("name=");
    });
  };
  return unified() && std::ranges::none_of(mounts, holds_controllers);
}

CgroupLayout parse_cgroup_mounts(std::string_view mountinfo, const std::string& host_root) {
  CgroupLayout out;
  for (std::string_view line : split(mountinfo, '\n')) {
    // id parent device root place options [tags…] - type source options
    const std::size_t dash = line.find(" - ");
    if (dash == line.npos) continue;
    const auto front = split(line.substr(0, dash), ' ');
    const auto back = split(line.substr(dash + 3), ' ');
    if (front.size() < 6 || back.size() < 3) continue;
    if (back[0] != "cgroup" && back[0] != "cgroup2") continue;
    CgroupMount mount{.directory = below(host_root, unescape(front[4])),
                      .root = unescape(front[3]),
                      .v2 = back[0] == "cgroup2",
                      .read_only = has_option(front[5], "ro") || has_option(back[2], "ro")};
    if (mount.v2) {
      mount.controllers = words(read_cgroup_file(mount.directory + "/cgroup.controllers"));
    } else {
      for (std::string_view option : split(back[2], ','))
        if (is_controller(option)) mount.controllers.emplace_back(option);
    }
    // A hierarchy may be mounted several times: use the first.
    const bool known = std::ranges::any_of(out.mounts, [&](const CgroupMount& other) {
      return other.v2 == mount.v2 && other.controllers == mount.controllers;
    });
    if (!known) out.mounts.push_back(std::move(mount));
  }
  return out;
}

CgroupLayout detect_cgroups(const std::string& host_root) {
  const auto from = [&](std::string_view process) {
    auto text = read_file(below(host_root, process));
    return text ? parse_cgroup_mounts(*text, host_root) : CgroupLayout{};
  };
  CgroupLayout out = from("/proc/1/mountinfo");
  // In a container we may not read the host's first process, and our own mounts are not the host's.
  // But the mounts of the host are visible below its root.
  if (out.mounts.empty() && !below(host_root, "").empty()) out = look_around(host_root);
  if (out.mounts.empty()) out = from("/proc/self/mountinfo");
  return out.mounts.empty() ? look_around(host_root) : out;
}

CgroupMembership CgroupMembership::parse(std::string_view text) {
  CgroupMembership out;
  for (std::string_view line : split(text, '\n')) {
    auto [number, rest] = cut(line, ':');
    auto [controllers, path] = cut(rest, ':');
    if (!path.starts_with('/')) continue;
    Line& added = out.lines_.emplace_back();
    added.path = path;
    if (controllers.empty()) continue;
    for (std::string_view name : split(controllers, ',')) added.controllers.emplace_back(name);
  }
  return out;
}

std::string CgroupMembership::path_in(const CgroupMount& mount) const {
  for (const Line& line : lines_) {
    if (mount.v2 ? line.controllers.empty()
                 : std::ranges::any_of(line.controllers,
                                       [&](const std::string& name) { return mount.has(name); }))
      return line.path;
  }
  return "/";
}

std::string read_cgroup_file(const std::string& path) {
  auto text = read_file(path);
  return text ? std::string(trim(*text)) : std::string();
}

}  // namespace plim::node
