#include "local/cluster/leftovers.hpp"

#include <filesystem>
#include <vector>

#include "base/clock.hpp"
#include "base/files.hpp"
#include "base/text.hpp"
#include "local/kubelet/shim/shim_client.hpp"

namespace plim::local::cluster {
namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;

constexpr std::string_view kCgroups = "/sys/fs/cgroup";

std::vector<fs::path> entries_of(const fs::path& directory) {
  std::vector<fs::path> out;
  std::error_code ignored;
  for (fs::directory_iterator at(directory, ignored), end; !ignored && at != end;
       at.increment(ignored))
    out.push_back(at->path());
  return out;
}

bool is_folder(const fs::path& path) {
  std::error_code ignored;
  return fs::is_directory(fs::symlink_status(path, ignored));
}

// Removes from the leaves up; a group with a process in it stays.
bool remove_groups(const fs::path& group) {
  for (const fs::path& child : entries_of(group))
    if (is_folder(child)) remove_groups(child);
  std::error_code problem;
  fs::remove(group, problem);
  return !problem;
}

// cgroup v2 has one tree, v1 one tree for each controller.
std::vector<fs::path> groups_named(std::string_view root) {
  std::vector<fs::path> mounts{fs::path(kCgroups)}, out;
  for (const fs::path& child : entries_of(kCgroups))
    if (is_folder(child)) mounts.push_back(child);
  for (const fs::path& mount : mounts)
    if (fs::path group = mount / root.substr(1); is_folder(group)) out.push_back(group);
  return out;
}

Task<void> remove_cgroups(std::string root) {
  // Remove only paths that look like ours, whatever the file names.
  if (!root.starts_with('/') || root.find("/plimsoll-") == root.npos ||
      root.find("..") != root.npos)
    co_return;
  constexpr int kTries = 50;  // killed processes need a moment to leave
  for (int i = 0; i < kTries; ++i) {
    bool gone = true;
    for (const fs::path& group : groups_named(root)) gone = remove_groups(group) && gone;
    if (gone) break;
    co_await system_clock().sleep(20ms);
  }
  std::error_code not_empty;
  for (const fs::path& group : groups_named(fs::path(root).parent_path().string()))
    fs::remove(group, not_empty);
}

}  // namespace

Task<void> end_leftover_pods(std::string node_directory) {
  std::error_code ignored;
  for (const fs::path& pod : entries_of(node_directory + "/pods")) {
    if (!fs::exists(pod / kubelet::kShimSocket, ignored)) continue;
    kubelet::ShimClient shim(pod.string(), {});
    (void)co_await shim.quit();
  }
}

Task<void> end_leftovers(ClusterDirectories directories) {
  for (const fs::path& node : entries_of(directories.nodes()))
    co_await end_leftover_pods(node.string());
  std::error_code ignored;
  for (const fs::path& path : entries_of(directories.run)) {
    if (!is_folder(path)) {
      if (fs::is_socket(path, ignored)) fs::remove(path, ignored);
      continue;
    }
    if (auto root = read_file((path / kCgroupNote).string()))
      co_await remove_cgroups(std::string(trim(*root)));
    for (fs::recursive_directory_iterator at(path, ignored), end; !ignored && at != end;
         at.increment(ignored))
      if (std::error_code odd; fs::is_socket(at->symlink_status(odd))) fs::remove(at->path(), odd);
  }
}

}  // namespace plim::local::cluster
