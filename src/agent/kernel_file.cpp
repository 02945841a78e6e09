#include "agent/kernel_file.hpp"

#include <cerrno>
#include <fcntl.h>
#include <linux/magic.h>
#include <sys/vfs.h>
#include <unistd.h>

namespace plim::agent {
namespace {

constexpr std::size_t kFirstBuffer = 16 << 10, kLargestFile = 4 << 20;

bool is_of_kernel(int fd) {
  struct statfs info{};
  return ::fstatfs(fd, &info) == 0 &&
         (info.f_type == PROC_SUPER_MAGIC || info.f_type == SYSFS_MAGIC);
}

}  // namespace

std::string_view KernelFile::read_from(int fd, std::vector<char>& buffer) const {
  if (buffer.size() < kFirstBuffer) buffer.resize(kFirstBuffer);
  buffer[0] = '\n';
  std::size_t size = 1;
  for (;;) {
    if (size == buffer.size()) {
      if (size >= kLargestFile) return {};
      buffer.resize(size * 2);
    }
    const ssize_t got =
        ::pread(fd, buffer.data() + size, buffer.size() - size, static_cast<off_t>(size - 1));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return {};
    if (got == 0) return {buffer.data(), size};
    size += static_cast<std::size_t>(got);
  }
}

std::string_view KernelFile::read(std::vector<char>& buffer) {
  if (!fd_) {
    Fd opened(::open(path_.c_str(), O_RDONLY | O_CLOEXEC));
    if (!opened) return {};
    if (!is_of_kernel(opened.get())) return read_from(opened.get(), buffer);
    fd_ = std::move(opened);
  }
  const std::string_view text = read_from(fd_.get(), buffer);
  if (text.empty()) fd_.reset();  // the file was removed; it may be created again
  return text;
}

}  // namespace plim::agent
