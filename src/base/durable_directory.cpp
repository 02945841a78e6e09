#include "base/durable_directory.hpp"

#include <filesystem>
#include <system_error>
#include <vector>

#include "base/files.hpp"

namespace plim {

Result<void> make_durable_directories(const std::string& path, mode_t mode) {
  namespace fs = std::filesystem;
  std::vector<fs::path> changed;
  std::error_code ignored;
  for (fs::path at(path); !at.empty() && !fs::is_directory(at, ignored); at = at.parent_path())
    changed.push_back(at.has_parent_path() ? at.parent_path() : ".");
  if (changed.empty()) return {};
  PLIM_CHECK(make_directories(path, mode));
  for (const fs::path& directory : changed) PLIM_CHECK(sync_directory(directory.native()));
  return {};
}

}  // namespace plim
