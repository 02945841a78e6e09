// The host that the probes check: files below a root, and a few system calls.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace plim::cli::doctor {

// kernel_calls() uses the running kernel. Tests pass their own functions.
struct SystemCalls {
  Result<void> (*try_cycle_counter)();     // opens a hardware counter for this process
  Result<void> (*try_software_counter)();  // the same without hardware: does perf work at all
  Result<bool> (*clock_is_synchronized)();
  std::uint64_t (*open_files_limit)();  // hard limit
  unsigned (*effective_user)();
};

const SystemCalls& kernel_calls();

class Host {
 public:
  explicit Host(std::string root, const SystemCalls& calls = kernel_calls());

  // Paths are those on the host: "/proc/sys/kernel/osrelease".
  std::string path(std::string_view host_path) const;
  Result<std::string> read(std::string_view host_path) const;  // without white space at the end
  bool exists(std::string_view host_path) const;
  bool is_socket(std::string_view host_path) const;
  bool is_writable(std::string_view host_path) const;

  const SystemCalls& calls() const { return *calls_; }

 private:
  std::string root_;
  const SystemCalls* calls_;
};

}  // namespace plim::cli::doctor
