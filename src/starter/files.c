#include "starter/files.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

bool read_text(const char* path, char* out, size_t size) {
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  size_t used = 0;
  ssize_t got = 0;
  do {
    got = read(fd, out + used, size - used);
    if (got > 0) used += (size_t)got;
  } while ((got > 0 && used < size) || (got < 0 && errno == EINTR));
  const int problem = got < 0 ? errno : used == size ? EFBIG : 0;
  close(fd);
  errno = problem;
  if (problem != 0) return false;
  out[used] = '\0';
  return true;
}
