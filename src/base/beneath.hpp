// Files below a directory that others may write to: no symbolic link, "..", pipe or device in it
// leads anywhere else.
#pragma once

#include <string>
#include <string_view>
#include <sys/types.h>

#include "base/fd.hpp"
#include "base/result.hpp"

namespace plim {

class Beneath {
 public:
  static Result<Beneath> open(const std::string& directory);

  // An O_PATH descriptor. Symbolic links that stay below the directory are followed.
  Result<Fd> find(const std::string& path) const;
  // Creates what is missing of the path; new directories get this mode, whatever the umask.
  Result<void> make_directories(const std::string& path, mode_t mode) const;
  // Replaces whatever has that name. Leaves a file alone that has this content already.
  Result<void> write_file(const std::string& path, std::string_view content, mode_t mode) const;

 private:
  explicit Beneath(Fd fd) : fd_(std::move(fd)) {}

  Fd fd_;
};

}  // namespace plim
