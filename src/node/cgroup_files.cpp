#include "node/cgroup_files.hpp"

#include <cerrno>
#include <filesystem>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <fmt/format.h>

#include "base/files.hpp"
#include "base/text.hpp"

namespace plim::node {

bool is_cgroup_filesystem(const std::string& directory) {
  struct statfs info{};
  if (::statfs(directory.c_str(), &info) != 0) return false;
  const auto type = static_cast<std::uint64_t>(info.f_type);
  return type == CGROUP_SUPER_MAGIC || type == CGROUP2_SUPER_MAGIC;
}

Result<void> write_cgroup_file(const std::string& path, std::string_view value) {
  auto written = write_existing_file(path, value);
  if (written || written.error().errno_value != ENOENT) return written;
  const std::string directory = std::filesystem::path(path).parent_path();
  std::error_code ignored;
  if (!std::filesystem::is_directory(directory, ignored) || is_cgroup_filesystem(directory))
    return written;
  return write_file(path, value, {.mode = 0644, .sync = false});
}

std::uint64_t read_cgroup_number(const std::string& path) {
  auto text = read_file(path);
  if (!text) return 0;
  return parse_int<std::uint64_t>(trim(*text)).value_or(0);
}

std::uint64_t cgroup_stat(std::string_view text, std::string_view key) {
  for (std::string_view line : split(text, '\n')) {
    auto [name, value] = cut(line, ' ');
    if (name == key) return parse_int<std::uint64_t>(trim(value)).value_or(0);
  }
  return 0;
}

std::string subtree_change(char sign, const std::vector<std::string>& controllers) {
  std::string out;
  for (const std::string& name : controllers)
    out += fmt::format("{}{}{}", out.empty() ? "" : " ", sign, name);
  return out;
}

std::vector<std::string> child_directories(const std::string& directory) {
  std::vector<std::string> out;
  std::error_code problem;
  std::filesystem::directory_iterator entries(directory, problem);
  for (; !problem && entries != std::filesystem::directory_iterator(); entries.increment(problem)) {
    std::error_code ignored;
    if (entries->is_directory(ignored) && !entries->is_symlink(ignored))
      out.push_back(entries->path().string());
  }
  return out;
}

void add_processes(const std::string& directory, std::vector<int>& out) {
  if (auto text = read_file(directory + "/cgroup.procs")) {
    for (std::string_view line : split(*text, '\n'))
      // 0 means a process of another PID namespace.
      if (auto pid = parse_int<int>(trim(line)); pid && *pid > 0) out.push_back(*pid);
  }
  for (const std::string& child : child_directories(directory)) add_processes(child, out);
}

Result<void> make_directory(const std::string& path) {
  if (::mkdir(path.c_str(), 0755) == 0 || errno == EEXIST) return {};
  return fail_errno(errno, fmt::format("cannot make cgroup {}", path));
}

Result<void> remove_cgroup_directory(const std::string& path) {
  for (const std::string& child : child_directories(path))
    PLIM_CHECK(remove_cgroup_directory(child));
  if (::rmdir(path.c_str()) == 0 || errno == ENOENT) return {};
  int problem = errno;
  if (problem == ENOTEMPTY && !is_cgroup_filesystem(path)) {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
    if (!ignored) return {};
  }
  if (problem == EBUSY || problem == ENOTEMPTY)
    return fail(Code::conflict, fmt::format("cgroup {} is still in use", path));
  return fail_errno(problem, fmt::format("cannot remove cgroup {}", path));
}

}  // namespace plim::node
