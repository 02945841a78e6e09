// The usage of one cgroup, read repeatedly: keeps descriptors open and allocates nothing.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/fd.hpp"
#include "node/cgroup_layout.hpp"

namespace plim::node {

enum class CgroupField : std::uint8_t {
  cpu_ns,
  memory_usage,
  memory_max_usage,
  memory_limit,
  memory_soft_limit,
  memory_working,
  page_faults,
  oom_kills,
  periods,
  throttled_periods,
  throttled_ns,
  cpu_some_us,  // pressure: time in which some, or all, tasks were stalled
  cpu_full_us,
  memory_some_us,
  memory_full_us,
  io_some_us,
  io_full_us,
};

inline constexpr std::size_t kCgroupFields = 17;
inline constexpr std::size_t kMaxNumaNodes = 64;
// The value of version 1 without a limit: the largest number of whole pages.
inline constexpr std::uint64_t kNoMemoryLimit = 9'223'372'036'854'771'712U;

// Whether the value only grows while the cgroup exists.
bool is_counter(CgroupField field);

struct CgroupSample {
  std::array<std::uint64_t, kCgroupFields> values{};
  std::array<std::uint64_t, kMaxNumaNodes> numa_pages{};
  std::uint32_t present = 0;   // a bit for each field
  std::size_t numa_nodes = 0;  // number of nodes with a value

  bool has(CgroupField field) const { return (present >> static_cast<unsigned>(field) & 1U) != 0; }

  std::uint64_t operator[](CgroupField field) const {
    return values[static_cast<std::size_t>(field)];
  }

  void set(CgroupField field, std::uint64_t value) {
    values[static_cast<std::size_t>(field)] = value;
    present |= 1U << static_cast<unsigned>(field);
  }

  void clear() { present = 0, numa_nodes = 0; }
};

// How many descriptors meters may keep open; beyond that they open, read and close.
struct FdBudget {
  long left = 0;
  long refused = 0;  // descriptors that a larger budget would have kept
};

// Where each kind of file is. Created once for all meters, which refer to it.
struct CgroupMounts {
  struct Place {
    std::string directory;  // "" if the machine has no such controller
    bool v2 = false;
    bool keep_open = false;  // false for trees made for tests, whose files are replaced
  };

  Place cpu, cpuacct, memory, unified;

  static CgroupMounts from(const CgroupLayout& layout);

  bool usable() const { return !cpuacct.directory.empty() && !memory.directory.empty(); }

  // Whether the cgroup exists in every hierarchy that a task must be in.
  bool exists(const std::string& path) const;
  std::string describe() const;  // "cpu v1 at /sys/fs/cgroup/cpu, …", for the log
};

// Belongs to one thread.
class CgroupMeter {
 public:
  // The path starts with '/' and is the same in every hierarchy.
  CgroupMeter(const CgroupMounts& mounts, std::string path, FdBudget& budget);
  ~CgroupMeter();
  CgroupMeter(CgroupMeter&&) noexcept;
  CgroupMeter& operator=(CgroupMeter&& other) noexcept;  // swaps

  struct Outcome {
    bool gone = false;  // the cgroup does not exist; nothing was read
    int refused = 0;    // files that could not be read for lack of permission
  };

  Outcome read(CgroupSample& out, std::vector<char>& buffer);

  const std::string& path() const { return path_; }

 private:
  struct File {
    std::uint8_t kind;
    bool missing = false;  // this kernel, or this cgroup, has no such file
    Fd fd = {};
  };

  enum class Got { text, absent, refused, gone };
  Got fetch(File& file, std::vector<char>& buffer, std::string_view& text);
  void close();

  const CgroupMounts* mounts_;
  std::string path_;
  FdBudget* budget_;
  std::vector<File> files_;
};

// A buffer for read(), large enough for every file of a cgroup.
std::vector<char> meter_buffer();

}  // namespace plim::node
