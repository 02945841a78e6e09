#include "cli/doctor/host.hpp"

#include <cerrno>
#include <linux/perf_event.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/timex.h>
#include <unistd.h>

#include "base/files.hpp"

namespace plim::cli::doctor {
namespace {

Result<void> try_counter(std::uint32_t type, std::uint64_t config) {
  perf_event_attr attributes{};
  attributes.size = sizeof attributes;
  attributes.type = type;
  attributes.config = config;
  attributes.disabled = 1;
  attributes.exclude_kernel = 1;  // perf_event_paranoid=2 still allows this
  attributes.exclude_hv = 1;
  auto fd = static_cast<int>(
      ::syscall(SYS_perf_event_open, &attributes, 0, -1, -1, PERF_FLAG_FD_CLOEXEC));
  if (fd < 0) return fail_errno(errno, "perf_event_open");
  ::close(fd);
  return {};
}

Result<bool> clock_is_synchronized() {
  timex state{};
  int answer = ::adjtimex(&state);
  if (answer < 0) return fail_errno(errno, "adjtimex");
  return answer != TIME_ERROR && (state.status & STA_UNSYNC) == 0;
}

std::uint64_t open_files_limit() {
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  return limit.rlim_max;
}

constexpr SystemCalls kKernelCalls{
    .try_cycle_counter = [] { return try_counter(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES); },
    .try_software_counter =
        [] { return try_counter(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK); },
    .clock_is_synchronized = clock_is_synchronized,
    .open_files_limit = open_files_limit,
    .effective_user = [] { return static_cast<unsigned>(::geteuid()); },
};

}  // namespace

const SystemCalls& kernel_calls() {
  return kKernelCalls;
}

Host::Host(std::string root, const SystemCalls& calls) : root_(std::move(root)), calls_(&calls) {
  while (root_.ends_with('/')) root_.pop_back();
}

std::string Host::path(std::string_view host_path) const {
  return root_ + std::string(host_path);
}

Result<std::string> Host::read(std::string_view host_path) const {
  PLIM_TRY(std::string text, read_file(path(host_path)));
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back())) != 0)
    text.pop_back();
  return text;
}

bool Host::exists(std::string_view host_path) const {
  struct stat info{};
  return ::stat(path(host_path).c_str(), &info) == 0;
}

bool Host::is_socket(std::string_view host_path) const {
  struct stat info{};
  return ::stat(path(host_path).c_str(), &info) == 0 && S_ISSOCK(info.st_mode);
}

bool Host::is_writable(std::string_view host_path) const {
  return ::access(path(host_path).c_str(), W_OK) == 0;
}

}  // namespace plim::cli::doctor
