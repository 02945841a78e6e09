#include "node/cgroup_meter.hpp"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

#include "node/cgroup_files.hpp"
#include "node/cgroup_text.hpp"

namespace plim::node {
namespace {

constexpr std::size_t kBufferBytes = 32 << 10;

using Place = CgroupMounts::Place;
using Field = CgroupField;

void read_cpu_ns(std::string_view text, CgroupSample& out) {
  if (auto value = leading_number(text)) out.set(Field::cpu_ns, *value);
}

template <Field field>
void read_bytes(std::string_view text, CgroupSample& out) {
  if (text.starts_with("\nmax"))
    out.set(field, kNoMemoryLimit);
  else if (auto value = leading_number(text))
    out.set(field, *value);
}

void read_low(std::string_view text, CgroupSample& out) {
  read_bytes<Field::memory_soft_limit>(text, out);
  if (out[Field::memory_soft_limit] == 0)
    out.present &= ~(1U << static_cast<unsigned>(Field::memory_soft_limit));
}

void take(std::string_view text, std::string_view key, Field field, CgroupSample& out,
          std::uint64_t scale = 1) {
  if (auto value = value_of_key(text, key)) out.set(field, *value * scale);
}

void read_memory_stat(std::string_view text, std::string_view inactive, CgroupSample& out) {
  take(text, "pgfault", Field::page_faults, out);
  if (!out.has(Field::memory_usage)) return;
  if (auto cold = value_of_key(text, inactive))
    out.set(Field::memory_working,
            out[Field::memory_usage] - std::min(out[Field::memory_usage], *cold));
}

void read_memory_stat_v1(std::string_view text, CgroupSample& out) {
  read_memory_stat(text, "total_inactive_file", out);
}

void read_memory_stat_v2(std::string_view text, CgroupSample& out) {
  read_memory_stat(text, "inactive_file", out);
}

void read_numa_v1(std::string_view text, CgroupSample& out) {
  out.numa_nodes = numa_pages_v1(text, out.numa_pages);
}

void read_numa_v2(std::string_view text, CgroupSample& out) {
  static const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  out.numa_nodes = numa_bytes_v2(text, out.numa_pages);
  for (std::size_t i = 0; i < out.numa_nodes; ++i) out.numa_pages[i] /= page;
}

void read_cpu_stat_v1(std::string_view text, CgroupSample& out) {
  take(text, "nr_periods", Field::periods, out);
  take(text, "nr_throttled", Field::throttled_periods, out);
  take(text, "throttled_time", Field::throttled_ns, out);
}

void read_cpu_stat_v2(std::string_view text, CgroupSample& out) {
  take(text, "usage_usec", Field::cpu_ns, out, 1000);
  take(text, "nr_periods", Field::periods, out);
  take(text, "nr_throttled", Field::throttled_periods, out);
  take(text, "throttled_usec", Field::throttled_ns, out, 1000);
}

void read_oom(std::string_view text, CgroupSample& out) {
  take(text, "oom_kill", Field::oom_kills, out);
}

template <Field some, Field full>
void read_pressure(std::string_view text, CgroupSample& out) {
  if (auto value = pressure_total(text, "some")) out.set(some, *value);
  if (auto value = pressure_total(text, "full")) out.set(full, *value);
}

enum class In { cpu, cpuacct, memory, unified };

struct Kind {
  In in;
  bool v2;
  std::string_view name;
  void (*parse)(std::string_view, CgroupSample&);
  bool essential = false;  // without this file the cgroup is gone
};

// Files that are most expensive to open come first, since their descriptors are kept first when few
// are left. memory.stat needs the usage that is read before it.
constexpr std::array kKinds{
    Kind{In::memory, false, "memory.usage_in_bytes", read_bytes<Field::memory_usage>, true},
    Kind{In::memory, false, "memory.stat", read_memory_stat_v1},
    Kind{In::memory, false, "memory.numa_stat", read_numa_v1},
    Kind{In::cpuacct, false, "cpuacct.usage", read_cpu_ns, true},
    Kind{In::memory, false, "memory.max_usage_in_bytes", read_bytes<Field::memory_max_usage>},
    Kind{In::memory, false, "memory.limit_in_bytes", read_bytes<Field::memory_limit>},
    Kind{In::memory, false, "memory.soft_limit_in_bytes", read_bytes<Field::memory_soft_limit>},
    Kind{In::cpu, false, "cpu.stat", read_cpu_stat_v1},
    Kind{In::memory, false, "memory.oom_control", read_oom},
    Kind{In::memory, true, "memory.current", read_bytes<Field::memory_usage>, true},
    Kind{In::memory, true, "memory.stat", read_memory_stat_v2},
    Kind{In::memory, true, "memory.numa_stat", read_numa_v2},
    Kind{In::cpuacct, true, "cpu.stat", read_cpu_stat_v2, true},
    Kind{In::memory, true, "memory.peak", read_bytes<Field::memory_max_usage>},
    Kind{In::memory, true, "memory.max", read_bytes<Field::memory_limit>},
    Kind{In::memory, true, "memory.low", read_low},
    Kind{In::memory, true, "memory.events", read_oom},
    Kind{In::unified, true, "cpu.pressure", read_pressure<Field::cpu_some_us, Field::cpu_full_us>},
    Kind{In::unified, true, "memory.pressure",
         read_pressure<Field::memory_some_us, Field::memory_full_us>},
    Kind{In::unified, true, "io.pressure", read_pressure<Field::io_some_us, Field::io_full_us>},
};

const Place& place_of(const CgroupMounts& mounts, In in) {
  switch (in) {
    case In::cpu:
      return mounts.cpu;
    case In::cpuacct:
      return mounts.cpuacct;
    case In::memory:
      return mounts.memory;
    case In::unified:
      break;
  }
  return mounts.unified;
}

bool is_directory(const std::string& path) {
  struct stat info{};
  return ::stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode);
}

Place make_place(const CgroupMount* mount) {
  if (mount == nullptr) return {};
  return {.directory = mount->directory,
          .v2 = mount->v2,
          .keep_open = is_cgroup_filesystem(mount->directory)};
}

}  // namespace

bool is_counter(CgroupField field) {
  switch (field) {
    case Field::memory_usage:
    case Field::memory_max_usage:
    case Field::memory_limit:
    case Field::memory_soft_limit:
    case Field::memory_working:
      return false;
    default:
      return true;
  }
}

std::vector<char> meter_buffer() {
  return std::vector<char>(kBufferBytes);
}

CgroupMounts CgroupMounts::from(const CgroupLayout& layout) {
  CgroupMounts out;
  out.cpu = make_place(layout.find("cpu"));
  out.memory = make_place(layout.find("memory"));
  out.unified = make_place(layout.unified());
  // Version 2 has no such controller: every cgroup counts its time.
  const CgroupMount* cpuacct = layout.find("cpuacct");
  out.cpuacct = make_place(cpuacct != nullptr ? cpuacct : layout.unified());
  return out;
}

bool CgroupMounts::exists(const std::string& path) const {
  if (!usable()) return false;
  const Place* last = nullptr;
  for (const Place* place : {&memory, &cpuacct, &cpu}) {
    if (place->directory.empty() || (last != nullptr && last->directory == place->directory))
      continue;
    if (!is_directory(place->directory + path)) return false;
    last = place;
  }
  return true;
}

std::string CgroupMounts::describe() const {
  std::string out;
  const auto add = [&](std::string_view name, const Place& place) {
    if (place.directory.empty()) return;
    out += fmt::format("{}{} v{} at {}", out.empty() ? "" : ", ", name, place.v2 ? 2 : 1,
                       place.directory);
  };
  add("cpu", cpu), add("cpuacct", cpuacct), add("memory", memory), add("pressure", unified);
  return out;
}

CgroupMeter::CgroupMeter(const CgroupMounts& mounts, std::string path, FdBudget& budget)
    : mounts_(&mounts), path_(std::move(path)), budget_(&budget) {
  files_.reserve(12);
  for (std::size_t i = 0; i < kKinds.size(); ++i) {
    const Place& place = place_of(mounts, kKinds[i].in);
    if (!place.directory.empty() && place.v2 == kKinds[i].v2)
      files_.push_back({.kind = static_cast<std::uint8_t>(i)});
  }
}

CgroupMeter::CgroupMeter(CgroupMeter&&) noexcept = default;

CgroupMeter& CgroupMeter::operator=(CgroupMeter&& other) noexcept {
  std::swap(mounts_, other.mounts_);
  path_.swap(other.path_);
  std::swap(budget_, other.budget_);
  files_.swap(other.files_);
  return *this;
}

CgroupMeter::~CgroupMeter() {
  close();
}

void CgroupMeter::close() {
  for (File& file : files_) {
    if (!file.fd) continue;
    file.fd.reset();
    ++budget_->left;
  }
}

// The text starts with a line end, so that every key of a file follows one.
CgroupMeter::Got CgroupMeter::fetch(File& file, std::vector<char>& buffer, std::string_view& text) {
  const Kind& kind = kKinds[file.kind];
  const Place& place = place_of(*mounts_, kind.in);
  Fd opened;
  int fd = file.fd.get();
  if (fd < 0) {
    char name[4096];
    auto end =
        fmt::format_to_n(name, sizeof name - 1, "{}{}/{}", place.directory, path_, kind.name);
    *end.out = '\0';
    opened = Fd(::open(name, O_RDONLY | O_CLOEXEC));
    if (!opened) {
      if (errno == ENOENT || errno == ENODEV || errno == ENOTDIR) {
        if (kind.essential) return Got::gone;
        file.missing = place.keep_open;
        return Got::absent;
      }
      return Got::refused;
    }
    fd = opened.get();
  }
  buffer[0] = '\n';
  const ssize_t size = ::pread(fd, buffer.data() + 1, buffer.size() - 1, 0);
  if (size < 0) {
    if (errno == ENODEV) return Got::gone;
    return errno == EOPNOTSUPP ? Got::absent : Got::refused;
  }
  text = {buffer.data(), static_cast<std::size_t>(size) + 1};
  if (opened && place.keep_open) {
    if (budget_->left > 0) {
      file.fd = std::move(opened);
      --budget_->left;
    } else {
      ++budget_->refused;
    }
  }
  return Got::text;
}

CgroupMeter::Outcome CgroupMeter::read(CgroupSample& out, std::vector<char>& buffer) {
  Outcome outcome;
  out.clear();
  for (File& file : files_) {
    if (file.missing) continue;
    std::string_view text;
    switch (fetch(file, buffer, text)) {
      case Got::text:
        kKinds[file.kind].parse(text, out);
        break;
      case Got::absent:
        break;
      case Got::refused:
        ++outcome.refused;
        break;
      case Got::gone:
        close();
        out.clear();
        outcome.gone = true;
        return outcome;
    }
  }
  return outcome;
}

}  // namespace plim::node
