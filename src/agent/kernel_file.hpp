// A file of /proc or /sys that is read repeatedly.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/fd.hpp"

namespace plim::agent {

// Belongs to one thread.
class KernelFile {
 public:
  explicit KernelFile(std::string path) : path_(std::move(path)) {}

  // A line end followed by the whole file, in `buffer`, which grows as needed; "" if the file
  // cannot be read. Keeps the file open, because opening costs more than reading most of these
  // files. Not in test trees, whose files are replaced.
  std::string_view read(std::vector<char>& buffer);

 private:
  std::string_view read_from(int fd, std::vector<char>& buffer) const;

  std::string path_;
  Fd fd_;
};

}  // namespace plim::agent
