// A full disk for tests. As root, a tmpfs of a few pages in a mount namespace of its own thread, so
// that nothing remains however the test ends. Otherwise a limit on the size of files.
#pragma once

#include <csignal>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <sched.h>
#include <string>
#include <sys/mount.h>
#include <sys/resource.h>
#include <thread>

#include "base/result.hpp"
#include "base/testing/temp_dir.hpp"

namespace plim::testing {

// What a test can do with the disk: fill it to the last page, and free space again.
struct TinyDisk {
  std::string path;
  std::function<void()> fill;
  std::function<void()> make_room;
};

// Runs `body` on a thread that sees the disk.
inline void with_tiny_disk(std::size_t bytes, const std::function<void(TinyDisk)>& body) {
  TempDir dir;
  std::thread thread([&] {
    const std::string options = "size=" + std::to_string(bytes);
    const bool mounted = ::unshare(CLONE_FS | CLONE_NEWNS) == 0 &&
                         ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
                         ::mount("tiny", dir.path().c_str(), "tmpfs", 0, options.c_str()) == 0;
    TinyDisk disk{.path = dir.path(), .fill = [] {}, .make_room = [] {}};
    struct rlimit old{};
    ::getrlimit(RLIMIT_FSIZE, &old);
    if (mounted) {
      const std::string ballast = disk.path + "/ballast";
      disk.fill = [ballast] {
        std::FILE* file = std::fopen(ballast.c_str(), "wb");
        PLIM_ASSERT(file != nullptr);
        const std::string page(4096, 'x');
        while (std::fwrite(page.data(), 1, page.size(), file) == page.size() &&
               std::fflush(file) == 0) {
        }
        std::fclose(file);
      };
      disk.make_room = [ballast] { std::filesystem::remove(ballast); };
    } else {
      std::signal(SIGXFSZ, SIG_IGN);
      disk.fill = [old] {
        const struct rlimit none{.rlim_cur = 100, .rlim_max = old.rlim_max};
        PLIM_ASSERT(::setrlimit(RLIMIT_FSIZE, &none) == 0);
      };
      disk.make_room = [old] { PLIM_ASSERT(::setrlimit(RLIMIT_FSIZE, &old) == 0); };
    }
    body(disk);
    disk.make_room();
  });
  thread.join();
}

}  // namespace plim::testing
