// Server processes under measurement: forked, asked about their CPU time and memory, ended by pid.
#pragma once

#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <string>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

#include "base/process.hpp"
#include "net/x509.hpp"
#include "usage.hpp"

namespace plim::bench {

// Runs `serve` in a process of its own; it calls the function it is given with its port once it
// listens. Fork before any thread exists.
class Child {
 public:
  using Ready = std::function<void(std::uint16_t port)>;

  explicit Child(const std::function<void(const Ready&)>& serve) {
    int ends[2];
    PLIM_ASSERT(::pipe(ends) == 0);
    std::fflush(stdout);
    pid_ = ::fork();
    if (pid_ == 0) {
      ::close(ends[0]);
      prepare_process();
      keep_memory_small();
      serve([&](std::uint16_t port) { PLIM_ASSERT(::write(ends[1], &port, sizeof port) == 2); });
      ::_exit(0);
    }
    ::close(ends[1]);
    PLIM_ASSERT(::read(ends[0], &port_, sizeof port_) == sizeof port_);
    ::close(ends[0]);
  }

  ~Child() { kill(); }

  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  void kill() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    pid_ = 0;
  }

  std::uint16_t port() const { return port_; }

  std::chrono::nanoseconds cpu() const { return cpu_of(pid_); }

  long resident_kilobytes() const { return bench::resident_kilobytes(pid_); }

 private:
  pid_t pid_ = 0;
  std::uint16_t port_ = 0;
};

struct Pki {
  net::KeyPair authority, server;

  Pki() {
    auto now = std::chrono::system_clock::now();
    auto day = std::chrono::hours(24);
    authority = net::make_authority("bench authority", now - day, now + day).value();
    net::CertificateRequest request;
    request.common_name = "bench";
    request.ip_addresses = {"127.0.0.1"};
    request.server = true;
    request.not_before = now - day;
    request.not_after = now + day;
    server = net::issue_certificate(authority, request).value();
  }
};

}  // namespace plim::bench
