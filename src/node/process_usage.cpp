#include "node/process_usage.hpp"

#include <array>
#include <unistd.h>

#include <fmt/format.h>

#include "base/files.hpp"
#include "base/text.hpp"

namespace plim::node {
namespace {

// Fields of /proc/<pid>/stat, counted after the name in parentheses.
constexpr std::array<std::size_t, 4> kCpuTicks{11, 12, 13, 14};  // utime stime cutime cstime
constexpr std::size_t kResidentPages = 21;

std::uint64_t number_at(const std::vector<std::string_view>& fields, std::size_t place) {
  return place < fields.size() ? parse_int<std::uint64_t>(fields[place]).value_or(0) : 0;
}

}  // namespace

CgroupUsage processes_usage(const std::vector<int>& pids, const std::string& proc) {
  static const auto kTicks = static_cast<std::uint64_t>(::sysconf(_SC_CLK_TCK));
  static const auto kPage = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  CgroupUsage out;
  for (int pid : pids) {
    const auto text = read_file(fmt::format("{}/{}/stat", proc, pid));
    if (!text) continue;
    const std::string_view all = trim(*text);
    const std::size_t name_end = all.rfind(") ");  // a name may contain anything
    if (name_end == all.npos) continue;
    const auto fields = split(all.substr(name_end + 2), ' ');
    for (std::size_t place : kCpuTicks)
      out.cpu_ns += number_at(fields, place) * (1'000'000'000 / kTicks);
    out.rss_bytes += number_at(fields, kResidentPages) * kPage;
  }
  out.memory_bytes = out.working_set_bytes = out.rss_bytes;
  return out;
}

}  // namespace plim::node
