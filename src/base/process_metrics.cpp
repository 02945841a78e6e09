#include "base/process_metrics.hpp"

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <sys/resource.h>
#include <unistd.h>
#include <vector>

#include "base/files.hpp"
#include "base/text.hpp"

namespace plim::metrics {
namespace {

// The fields of /proc/self/stat after the name, which may contain anything; the first is the state.
std::vector<std::string> stat_fields() {
  std::vector<std::string> out;
  const auto text = read_file("/proc/self/stat");
  if (!text) return out;
  const std::size_t end = text->rfind(')');
  if (end == std::string::npos) return out;
  for (const std::string_view field : split(trim(std::string_view(*text).substr(end + 1)), ' '))
    out.emplace_back(field);
  return out;
}

double number_of(const std::string& text) {
  return parse_double(text).value_or(0);
}

std::optional<double> boot_time() {
  const auto text = read_file("/proc/stat");
  if (!text) return std::nullopt;
  for (const std::string_view line : split(*text, '\n'))
    if (line.starts_with("btime ")) return number_of(std::string(line.substr(6)));
  return std::nullopt;
}

void gauge(Exposition& out, std::string_view name, std::string_view help, double value) {
  out.family(name, help, Type::gauge).sample(value);
}

void expose_stat(Exposition& out) {
  // Indexes: proc(5) counts from 1, and two fields come before the state.
  constexpr std::size_t kUser = 14 - 3, kSystem = 15 - 3, kStart = 22 - 3, kVirtual = 23 - 3,
                        kResident = 24 - 3;
  const std::vector<std::string> fields = stat_fields();
  if (fields.size() <= kResident) return;
  const auto ticks = static_cast<double>(::sysconf(_SC_CLK_TCK));
  out.family("process_cpu_seconds_total", "CPU time of the process in seconds.", Type::counter)
      .sample((number_of(fields[kUser]) + number_of(fields[kSystem])) / ticks);
  gauge(out, "process_virtual_memory_bytes", "Virtual memory size.", number_of(fields[kVirtual]));
  gauge(out, "process_resident_memory_bytes", "Resident memory size.",
        number_of(fields[kResident]) * static_cast<double>(::sysconf(_SC_PAGESIZE)));
  if (const auto boot = boot_time())
    gauge(out, "process_start_time_seconds", "Start time in seconds since 1970.",
          *boot + number_of(fields[kStart]) / ticks);
}

}  // namespace

void expose_process(Exposition& out) {
  expose_stat(out);
  std::error_code error;
  double open = 0;
  for (std::filesystem::directory_iterator at("/proc/self/fd", error), end; !error && at != end;
       at.increment(error))
    ++open;
  if (!error) gauge(out, "process_open_fds", "Open file descriptors.", open);
  ::rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) == 0)
    gauge(out, "process_max_fds", "File descriptor limit.", static_cast<double>(limit.rlim_cur));
}

}  // namespace plim::metrics
