// A temporary directory for a test, removed with its contents.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>
#include <unistd.h>

#include "base/result.hpp"

namespace plim::testing {

// A directory in memory, if this machine has one: for tests that write and sync so often that they
// would measure the disk.
inline std::filesystem::path memory_directory() {
  return ::access("/dev/shm", W_OK) == 0 ? "/dev/shm" : std::filesystem::temp_directory_path();
}

class TempDir {
 public:
  explicit TempDir(const std::filesystem::path& parent = std::filesystem::temp_directory_path())
      : path_(parent / "plim.XXXXXX") {
    PLIM_ASSERT(::mkdtemp(path_.data()) != nullptr);
  }

  ~TempDir() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;

  const std::string& path() const { return path_; }

  std::string operator/(std::string_view name) const { return path_ + "/" + std::string(name); }

 private:
  std::string path_;
};

}  // namespace plim::testing
