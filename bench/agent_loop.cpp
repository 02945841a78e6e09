// What reading cgroups costs at least: the seven files of version 1 that the agent's ancestor reads
// of each task, opened, read and closed, or kept open. usage: agent_loop open|kept ROUNDS CGROUP…
// prints CPU microseconds per round.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <string>
#include <sys/resource.h>
#include <unistd.h>
#include <vector>

namespace {

constexpr const char* kFiles[] = {
    "cpuacct%s/cpuacct.usage",
    "memory%s/memory.usage_in_bytes",
    "memory%s/memory.max_usage_in_bytes",
    "memory%s/memory.limit_in_bytes",
    "memory%s/memory.soft_limit_in_bytes",
    "memory%s/memory.numa_stat",
    "memory%s/memory.stat",
};

double cpu_us() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto us = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) * 1e6 + static_cast<double>(t.tv_usec);
  };
  return us(usage.ru_utime) + us(usage.ru_stime);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) return 2;
  const bool kept = std::strcmp(argv[1], "kept") == 0;
  const int rounds = std::atoi(argv[2]);
  std::vector<std::string> paths;
  for (int i = 3; i < argc; ++i)
    for (const char* file : kFiles) {
      char path[512];
      std::snprintf(path, sizeof path, file, argv[i]);
      paths.push_back(std::string("/sys/fs/cgroup/") + path);
    }
  std::vector<int> fds(paths.size(), -1);
  static char buffer[32 << 10];
  std::size_t bytes = 0;
  double began = 0;
  for (int round = -2; round < rounds; ++round) {
    if (round == 0) began = cpu_us();
    for (std::size_t i = 0; i < paths.size(); ++i) {
      int fd = fds[i];
      if (fd < 0) fd = open(paths[i].c_str(), O_RDONLY | O_CLOEXEC);
      if (fd < 0) {
        std::perror(paths[i].c_str());
        return 1;
      }
      bytes += static_cast<std::size_t>(pread(fd, buffer, sizeof buffer, 0));
      if (kept)
        fds[i] = fd;
      else
        close(fd);
    }
  }
  std::printf("%.1f\n", (cpu_us() - began) / rounds);
  return bytes > 0 ? 0 : 1;
}
