#include "local/kubelet/runtime/process_tree.hpp"

#include <chrono>
#include <dirent.h>
#include <map>
#include <memory>
#include <signal.h>
#include <string>
#include <sys/wait.h>
#include <thread>

#include <fmt/format.h>

#include "base/files.hpp"
#include "base/text.hpp"

namespace plim::local::kubelet {

namespace {

struct Entry {
  pid_t parent = 0;
  bool zombie = false;
};

std::map<pid_t, Entry> read_processes() {
  std::map<pid_t, Entry> out;
  const std::unique_ptr<DIR, int (*)(DIR*)> proc(::opendir("/proc"), ::closedir);
  while (const dirent* item = proc ? ::readdir(proc.get()) : nullptr) {
    const auto pid = parse_int<pid_t>(item->d_name);
    if (!pid) continue;
    const auto stat = read_file(fmt::format("/proc/{}/stat", *pid));
    if (!stat) continue;
    const auto bracket = stat->rfind(") ");
    if (bracket == std::string::npos) continue;
    const auto fields = split(std::string_view(*stat).substr(bracket + 2), ' ');
    if (fields.size() < 2) continue;
    out[*pid] = {parse_int<pid_t>(fields[1]).value_or(0), fields[0] == "Z" || fields[0] == "X"};
  }
  return out;
}

}  // namespace

std::vector<pid_t> descendants_of(pid_t root) {
  const auto all = read_processes();
  std::multimap<pid_t, pid_t> children;
  for (const auto& [pid, entry] : all) children.emplace(entry.parent, pid);
  std::vector<pid_t> found{root}, out;
  for (std::size_t i = 0; i < found.size(); ++i) {
    const auto [first, last] = children.equal_range(found[i]);
    for (auto child = first; child != last; ++child) {
      found.push_back(child->second);
      if (!all.at(child->second).zombie) out.push_back(child->second);
    }
  }
  return out;
}

bool has_environment_entry(pid_t pid, std::string_view entry) {
  const auto text = read_file(fmt::format("/proc/{}/environ", pid));
  if (!text) return false;
  for (std::string_view item : split(*text, '\0'))
    if (item == entry) return true;
  return false;
}

bool kill_descendants(pid_t root) {
  for (int round = 0; round < 100; ++round) {
    const auto left = descendants_of(root);
    if (left.empty()) return true;
    for (pid_t pid : left) ::kill(pid, SIGKILL);
    std::this_thread::sleep_for(std::chrono::milliseconds(round < 10 ? 1 : 10));
  }
  return false;
}

}  // namespace plim::local::kubelet
