#include "base/durable_directory.hpp"

#include <filesystem>
#include <system_error>

#include "base/files.hpp"

namespace plim {

Result<void> make_durable_directories(const std::string& path, mode_t mode) {
  std::error_code ignored;
  if (path.empty() || std::filesystem::is_directory(path, ignored)) return {};
  const std::string parent = std::filesystem::path(path).parent_path().native();
  PLIM_CHECK(make_durable_directories(parent, mode));
  PLIM_CHECK(make_directories(path, mode));
  return sync_directory(parent.empty() ? "." : parent);
}

}  // namespace plim
