// Records what a process does to the files below one directory, so that disk.py can rebuild what a
// power cut would have left. Preloaded into the program under test and inherited by its children.
//
//   POWERCUT_ROOT  the directory, absolute and without symbolic links
//   POWERCUT_LOG   where to append the records
//   POWERCUT_KILL  has how many syncs of a process succeed; the next one kills it. None if missing
//
// A record is a struct record, then the name, then the data. The lock makes the order of the
// records the order in which the changes took effect, in all processes. Syncs only wait a moment:
// what they make durable is decided by the log, not by this machine's disk.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

struct record {
  uint32_t kind;  // a letter, see disk.py
  uint32_t name_size;
  uint64_t data_size;
  uint64_t at;  // CLOCK_MONOTONIC, before the change
  uint64_t inode;
  uint64_t number;  // an offset, a size or the flags of open
};

static const long kSyncNanos = 300000;

static pthread_mutex_t threads = PTHREAD_MUTEX_INITIALIZER;
static int log_fd = -1;
static char root[PATH_MAX];
static size_t root_size;

static void after_fork(void) {
  // A lock on a file belongs to its open descriptor, which the parent still uses.
  if (log_fd >= 0) syscall(SYS_close, log_fd);
  log_fd = -1;
  pthread_mutex_init(&threads, NULL);
}

__attribute__((constructor)) static void start(void) {
  const char* where = getenv("POWERCUT_ROOT");
  if (where == NULL || getenv("POWERCUT_LOG") == NULL || getenv("POWERCUT_KILL") == NULL) return;
  root_size = strlen(where);
  memcpy(root, where, root_size + 1);
  pthread_atfork(NULL, NULL, after_fork);
}

static void lock(void) {
  pthread_mutex_lock(&threads);
  if (log_fd < 0) {
    log_fd = (int)syscall(SYS_openat, AT_FDCWD, getenv("POWERCUT_LOG"),
                          O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (log_fd < 0) abort();
  }
  while (flock(log_fd, LOCK_EX) != 0) {
  }
}

static void unlock(void) {
  flock(log_fd, LOCK_UN);
  pthread_mutex_unlock(&threads);
}

static uint64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static void put(const void* data, size_t size) {
  // A gap in the log would make every state wrong.
  if (size > 0 && syscall(SYS_write, log_fd, data, size) != (long)size) abort();
}

static void note(char kind, uint64_t at, uint64_t inode, uint64_t number, const char* name,
                 const struct iovec* parts, size_t data_size) {
  struct record record = {(uint32_t)kind, (uint32_t)strlen(name), data_size, at, inode, number};
  put(&record, sizeof record);
  put(name, record.name_size);
  for (; data_size > 0; ++parts) {
    size_t size = parts->iov_len < data_size ? parts->iov_len : data_size;
    put(parts->iov_base, size);
    data_size -= size;
  }
}

static int is_inside(const char* path) {
  return root_size > 0 && strncmp(path, root, root_size) == 0 &&
         (path[root_size] == '/' || path[root_size] == '\0');
}

// Whether the descriptor is of a file or directory below the root; its inode and path.
static int find(int fd, uint64_t* inode, char* path) {
  if (root_size == 0 || fd < 0) return 0;
  struct stat info;
  if (fstat(fd, &info) != 0 || (!S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode))) return 0;
  char link[64];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t size = syscall(SYS_readlinkat, AT_FDCWD, link, path, PATH_MAX - 1);
  if (size <= 0) return 0;
  path[size] = '\0';
  *inode = info.st_ino;
  return is_inside(path);
}

// The absolute path that a call names, without looking at the last part. disk.py removes dots.
static int locate(int directory, const char* name, char* path) {
  if (root_size == 0 || name == NULL) return 0;
  if (name[0] == '/') {
    snprintf(path, PATH_MAX, "%s", name);
    return is_inside(path);
  }
  char link[64];
  snprintf(link, sizeof link, "/proc/self/fd/%d", directory);
  ssize_t size = syscall(SYS_readlinkat, AT_FDCWD, directory == AT_FDCWD ? "/proc/self/cwd" : link,
                         path, PATH_MAX - 1);
  if (size <= 0) return 0;
  snprintf(path + size, PATH_MAX - (size_t)size, "/%s", name);
  return is_inside(path);
}

// --- files --------------------------------------------------------------------------------------

static int do_open(int directory, const char* name, int flags, mode_t mode) {
  char path[PATH_MAX];
  const int writes = (flags & O_ACCMODE) != O_RDONLY || (flags & (O_CREAT | O_TRUNC)) != 0;
  if (!writes || !locate(directory, name, path))
    return (int)syscall(SYS_openat, directory, name, flags, mode);
  lock();
  const uint64_t at = now();
  int fd = (int)syscall(SYS_openat, directory, name, flags, mode);
  const int problem = errno;
  uint64_t inode;
  char real[PATH_MAX];
  if (find(fd, &inode, real)) note('o', at, inode, (uint64_t)flags, real, NULL, 0);
  unlock();
  errno = problem;
  return fd;
}

static mode_t mode_of(int flags, va_list more) {
  return (flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE ? va_arg(more, mode_t) : 0;
}

#define OPEN(name)                               \
  int name(const char* path, int flags, ...) {   \
    va_list more;                                \
    va_start(more, flags);                       \
    mode_t mode = mode_of(flags, more);          \
    va_end(more);                                \
    return do_open(AT_FDCWD, path, flags, mode); \
  }
#define OPENAT(name)                                          \
  int name(int directory, const char* path, int flags, ...) { \
    va_list more;                                             \
    va_start(more, flags);                                    \
    mode_t mode = mode_of(flags, more);                       \
    va_end(more);                                             \
    return do_open(directory, path, flags, mode);             \
  }
OPEN(open)
OPEN(open64)
OPENAT(openat)
OPENAT(openat64)

int creat(const char* path, mode_t mode) {
  return do_open(AT_FDCWD, path, O_WRONLY | O_CREAT | O_TRUNC, mode);
}

// offset -1: at the descriptor's own position.
static ssize_t do_write(int fd, const struct iovec* parts, int count, off_t offset) {
  uint64_t inode;
  char path[PATH_MAX];
  const int recorded = find(fd, &inode, path);
  if (recorded) lock();
  const uint64_t at = recorded ? now() : 0;
  ssize_t n = offset < 0 ? syscall(SYS_writev, fd, parts, count)
                         : syscall(SYS_pwritev, fd, parts, count, offset, 0);
  if (!recorded) return n;
  const int problem = errno;
  if (n > 0) {
    const off_t begin = offset < 0 ? lseek(fd, 0, SEEK_CUR) - n : offset;
    note('w', at, inode, (uint64_t)begin, path, parts, (size_t)n);
  }
  unlock();
  errno = problem;
  return n;
}

ssize_t write(int fd, const void* data, size_t size) {
  const struct iovec part = {(void*)data, size};
  return do_write(fd, &part, 1, -1);
}

ssize_t pwrite(int fd, const void* data, size_t size, off_t offset) {
  const struct iovec part = {(void*)data, size};
  return do_write(fd, &part, 1, offset);
}

ssize_t pwrite64(int fd, const void* data, size_t size, off64_t offset) {
  return pwrite(fd, data, size, offset);
}

ssize_t writev(int fd, const struct iovec* parts, int count) {
  return do_write(fd, parts, count, -1);
}

ssize_t pwritev(int fd, const struct iovec* parts, int count, off_t offset) {
  return do_write(fd, parts, count, offset);
}

ssize_t pwritev64(int fd, const struct iovec* parts, int count, off64_t offset) {
  return do_write(fd, parts, count, offset);
}

int ftruncate(int fd, off_t size) {
  uint64_t inode;
  char path[PATH_MAX];
  if (!find(fd, &inode, path)) return (int)syscall(SYS_ftruncate, fd, size);
  lock();
  const uint64_t at = now();
  int failed = (int)syscall(SYS_ftruncate, fd, size);
  if (failed == 0) note('t', at, inode, (uint64_t)size, path, NULL, 0);
  unlock();
  return failed;
}

int ftruncate64(int fd, off64_t size) {
  return ftruncate(fd, size);
}

int truncate(const char* name, off_t size) {
  int fd = open(name, O_WRONLY | O_CLOEXEC);
  if (fd < 0) return -1;
  int failed = ftruncate(fd, size);
  close(fd);
  return failed;
}

int truncate64(const char* name, off64_t size) {
  return truncate(name, size);
}

// --- what makes durable -------------------------------------------------------------------------

static atomic_int syncs;

static int syncs_to_live(void) {
  char text[16] = "";
  int fd = (int)syscall(SYS_openat, AT_FDCWD, getenv("POWERCUT_KILL"), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return INT_MAX;
  if (read(fd, text, sizeof text - 1) < 0) abort();
  close(fd);
  return atoi(text);
}

// Two records: everything before the first is durable from the second on.
static int do_sync(long call, int fd) {
  uint64_t inode;
  char path[PATH_MAX];
  if (!find(fd, &inode, path)) return (int)syscall(call, fd);
  lock();
  const uint64_t began = now();
  note('s', began, inode, began, path, NULL, 0);
  unlock();
  if (atomic_fetch_add(&syncs, 1) >= syncs_to_live()) kill(getpid(), SIGKILL);
  const struct timespec moment = {0, kSyncNanos};
  nanosleep(&moment, NULL);
  lock();
  note('S', now(), inode, began, path, NULL, 0);
  unlock();
  return 0;
}

int fsync(int fd) {
  return do_sync(SYS_fsync, fd);
}

int fdatasync(int fd) {
  return do_sync(SYS_fdatasync, fd);
}

// --- names --------------------------------------------------------------------------------------

// Runs a call that changes names and records it if it succeeds and is about the root.
#define NAME_CHANGE(kind, directory, name, data, call)                \
  do {                                                                \
    char path[PATH_MAX];                                              \
    if (!locate(directory, name, path)) return (int)(call);           \
    lock();                                                           \
    const uint64_t at = now();                                        \
    int failed = (int)(call);                                         \
    const struct iovec part = {(void*)(data), strlen(data)};          \
    const int problem = errno;                                        \
    if (failed == 0) note(kind, at, 0, 0, path, &part, part.iov_len); \
    unlock();                                                         \
    errno = problem;                                                  \
    return failed;                                                    \
  } while (0)

int renameat2(int from_directory, const char* from, int to_directory, const char* to,
              unsigned flags) {
  char target[PATH_MAX];
  const int inside = locate(to_directory, to, target);
  NAME_CHANGE(flags != 0 ? '?' : 'r', from_directory, from, inside ? target : "",
              syscall(SYS_renameat2, from_directory, from, to_directory, to, flags));
}

int renameat(int from_directory, const char* from, int to_directory, const char* to) {
  return renameat2(from_directory, from, to_directory, to, 0);
}

int rename(const char* from, const char* to) {
  return renameat2(AT_FDCWD, from, AT_FDCWD, to, 0);
}

int linkat(int from_directory, const char* from, int to_directory, const char* to, int flags) {
  NAME_CHANGE('?', to_directory, to, "",
              syscall(SYS_linkat, from_directory, from, to_directory, to, flags));
}

int link(const char* from, const char* to) {
  return linkat(AT_FDCWD, from, AT_FDCWD, to, 0);
}

int symlinkat(const char* target, int directory, const char* name) {
  NAME_CHANGE('l', directory, name, target, syscall(SYS_symlinkat, target, directory, name));
}

int symlink(const char* target, const char* name) {
  return symlinkat(target, AT_FDCWD, name);
}

int unlinkat(int directory, const char* name, int flags) {
  NAME_CHANGE('u', directory, name, "", syscall(SYS_unlinkat, directory, name, flags));
}

int unlink(const char* name) {
  return unlinkat(AT_FDCWD, name, 0);
}

int rmdir(const char* name) {
  return unlinkat(AT_FDCWD, name, AT_REMOVEDIR);
}

int remove(const char* name) {
  if (unlink(name) == 0) return 0;
  return errno == EISDIR || errno == EPERM ? rmdir(name) : -1;
}

int mkdirat(int directory, const char* name, mode_t mode) {
  NAME_CHANGE('d', directory, name, "", syscall(SYS_mkdirat, directory, name, mode));
}

int mkdir(const char* name, mode_t mode) {
  return mkdirat(AT_FDCWD, name, mode);
}

// --- what cannot be recorded --------------------------------------------------------------------

// disk.py refuses it, except for files that SQLite builds anew after a crash.
void* mmap(void* address, size_t size, int protection, int flags, int fd, off_t offset) {
  uint64_t inode;
  char path[PATH_MAX];
  if ((protection & PROT_WRITE) != 0 && (flags & MAP_SHARED) != 0 && find(fd, &inode, path)) {
    lock();
    note('m', now(), inode, 0, path, NULL, 0);
    unlock();
  }
  return (void*)syscall(SYS_mmap, address, size, protection, flags, fd, offset);
}

void* mmap64(void* address, size_t size, int protection, int flags, int fd, off64_t offset) {
  return mmap(address, size, protection, flags, fd, offset);
}

// --- a SQLite with another default
// ----------------------------------------------------------------

// Debian's SQLite syncs each commit by default, others do not. So the program has to ask for it.
int sqlite3_open_v2(const char* file, void** database, int flags, const char* vfs) {
  int (*open_database)(const char*, void**, int, const char*) = dlsym(RTLD_NEXT, __func__);
  int (*execute)(void*, const char*, void*, void*, void*) = dlsym(RTLD_NEXT, "sqlite3_exec");
  int failed = open_database(file, database, flags, vfs);
  if (failed == 0 && root_size > 0)
    execute(*database, "PRAGMA synchronous=NORMAL", NULL, NULL, NULL);
  return failed;
}
