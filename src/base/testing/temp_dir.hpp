// A directory of a test's own, removed with everything in it.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

#include "base/result.hpp"

namespace plim::testing {

class TempDir {
 public:
  TempDir() : path_(std::filesystem::temp_directory_path() / "plim.XXXXXX") {
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
