// Files and directories of one cgroup hierarchy. For .cpp files of this folder only.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace plim::node {

bool is_cgroup_filesystem(const std::string& directory);
// In trees made for tests the file is created.
Result<void> write_cgroup_file(const std::string& path, std::string_view value);
std::uint64_t read_cgroup_number(const std::string& path);  // 0 when it is not there, or "max"
// The number behind `key` in a file of "key number" lines.
std::uint64_t cgroup_stat(std::string_view text, std::string_view key);
// "+cpu +memory", to be written into cgroup.subtree_control; '-' takes them back.
std::string subtree_change(char sign, const std::vector<std::string>& controllers);

std::vector<std::string> child_directories(const std::string& directory);
void add_processes(const std::string& directory, std::vector<int>& out);  // here and below
Result<void> make_directory(const std::string& path);
// With all below, deepest first. Fine if it is not there; Code::conflict when it is in use.
Result<void> remove_cgroup_directory(const std::string& path);

}  // namespace plim::node
