// Files and directories of one cgroup hierarchy. For .cpp files of this folder only.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace plim::node {

bool is_cgroup_filesystem(const std::string& directory);
// Creates the file in trees made for tests.
Result<void> write_cgroup_file(const std::string& path, std::string_view value);
std::uint64_t read_cgroup_number(const std::string& path);  // 0 if it is missing or "max"
// The number after `key` in a file of "key number" lines.
std::uint64_t cgroup_stat(std::string_view text, std::string_view key);
// "+cpu +memory", for cgroup.subtree_control; '-' disables them.
std::string subtree_change(char sign, const std::vector<std::string>& controllers);

std::vector<std::string> child_directories(const std::string& directory);
void add_processes(const std::string& directory, std::vector<int>& out);  // with all below
Result<void> make_directory(const std::string& path);
// Removes it with all below, deepest first. Succeeds if it is missing; Code::conflict if in use.
Result<void> remove_cgroup_directory(const std::string& path);

}  // namespace plim::node
