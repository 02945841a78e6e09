// A file of /proc or /sys that is read again and again.
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

  // The whole of it behind a line end, in `buffer`, which grows as needed; "" when it cannot be
  // read. Opening costs more than most of these files do, so it stays open; not in trees made for
  // tests, whose files get replaced.
  std::string_view read(std::vector<char>& buffer);

 private:
  std::string_view read_from(int fd, std::vector<char>& buffer) const;

  std::string path_;
  Fd fd_;
};

}  // namespace plim::agent
