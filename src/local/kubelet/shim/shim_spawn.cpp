#include "local/kubelet/shim/shim_spawn.hpp"

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <functional>
#include <grp.h>
#include <linux/capability.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>

#include "base/argv.hpp"
#include "local/kubelet/shim/shim_clone.hpp"
#include "local/kubelet/shim/shim_mounts.hpp"

namespace plim::local::kubelet {

namespace {

struct Pipe {
  Fd read, write;
};

Result<Pipe> make_pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return fail_errno(errno, "cannot create a pipe");
  return Pipe{Fd(ends[0]), Fd(ends[1])};
}

Result<void> enter_cgroups(const StartSpec& spec) {
  for (const std::string& file : spec.cgroup) {
    Fd fd(::open(file.c_str(), O_WRONLY | O_CLOEXEC));
    if (!fd || ::write(fd.get(), "0", 1) != 1)
      return fail_errno(errno, fmt::format("cannot enter the cgroup of {}", file));
  }
  return {};
}

Result<void> set_limits(const StartSpec& spec) {
  for (const ShimRlimit& limit : spec.rlimits) {
    const rlimit value{limit.soft, limit.hard};
    if (::setrlimit(static_cast<__rlimit_resource>(limit.resource), &value) != 0)
      return fail_errno(errno, fmt::format("cannot set resource limit {}", limit.resource));
  }
  return {};
}

// First the bounding set, which also limits programs with file capabilities, then our own.
Result<void> drop_capabilities(std::uint64_t keep) {
  for (int bit = 0; bit <= CAP_LAST_CAP; ++bit)
    if ((keep >> bit & 1) == 0 && ::prctl(PR_CAPBSET_DROP, bit) != 0 && errno != EINVAL)
      return fail_errno(errno, "cannot drop capabilities");
  return {};
}

Result<void> limit_own_capabilities(std::uint64_t keep) {
  __user_cap_header_struct header{.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
  std::array<__user_cap_data_struct, 2> now{};
  if (::syscall(SYS_capget, &header, now.data()) != 0)
    return fail_errno(errno, "cannot read capabilities");
  for (std::size_t half = 0; half < now.size(); ++half) {
    const auto bits = static_cast<std::uint32_t>(keep >> (32 * half));
    now[half].effective &= bits;
    now[half].permitted &= bits;
    now[half].inheritable = 0;
  }
  if (::syscall(SYS_capset, &header, now.data()) != 0)
    return fail_errno(errno, "cannot limit capabilities");
  return {};
}

Result<void> become_user(const StartSpec& spec) {
  if (spec.capabilities) PLIM_CHECK(drop_capabilities(*spec.capabilities));
  if (spec.uid || spec.gid || !spec.groups.empty()) {
    if (::setgroups(spec.groups.size(), spec.groups.data()) != 0)
      return fail_errno(errno, "cannot set the groups");
    if (spec.gid && ::setresgid(*spec.gid, *spec.gid, *spec.gid) != 0)
      return fail_errno(errno, fmt::format("cannot become group {}", *spec.gid));
    if (spec.uid && ::setresuid(*spec.uid, *spec.uid, *spec.uid) != 0)
      return fail_errno(errno, fmt::format("cannot become user {}", *spec.uid));
  }
  if (spec.capabilities) PLIM_CHECK(limit_own_capabilities(*spec.capabilities));
  if (spec.no_new_privileges && ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
    return fail_errno(errno, "cannot set no_new_privs");
  return {};
}

void reset_signals() {
  for (int number = 1; number < NSIG; ++number) ::signal(number, SIG_DFL);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

// Built before the child exists, so that the child allocates nothing: with shared memory its
// allocations would never be freed.
class Program {
 public:
  // Both arguments outlive this.
  Program(const std::vector<std::string>& argv, const std::vector<std::string>& env)
      : arguments_(argv_of(argv)), environment_(argv_of(env)) {
    for (const std::string& entry : env)  // exec looks in the container's own PATH
      if (entry.starts_with("PATH=")) ::setenv("PATH", entry.c_str() + 5, 1);
  }

  // Returns only on failure.
  Error exec() const {
    ::execvpe(arguments_[0], arguments_.data(), environment_.data());
    const int error = errno;
    const std::string_view name = arguments_[0];
    if (error == ENOENT && name.find('/') == name.npos)
      return fail(Code::not_found,
                  fmt::format("exec: \"{}\": executable file not found in $PATH", name));
    return fail(Code::not_found, fmt::format("exec: \"{}\": {}", name, std::strerror(error)));
  }

 private:
  std::vector<char*> arguments_, environment_;
};

void use_standard_streams(int out, int err) {
  const int null = ::open("/dev/null", O_RDONLY);
  ::dup2(null, STDIN_FILENO);
  ::dup2(out, STDOUT_FILENO);
  ::dup2(err, STDERR_FILENO);
  if (null > STDERR_FILENO) ::close(null);
}

// The messages of a child: the time when it starts the program, and an error if it could not. An
// error may follow a time.
constexpr char kStamp = 'S', kFailure = 'F';
constexpr std::size_t kLastWords = 4096;

void report_start(int pipe) {
  const Moment now = Moment::now();
  char text[1 + sizeof now];
  text[0] = kStamp;
  std::memcpy(text + 1, &now, sizeof now);
  (void)!::write(pipe, text, sizeof text);
}

// Reads to the end: when every copy of the other end is closed, the new program runs.
std::string read_report(int pipe) {
  std::string out;
  char part[1024];
  for (;;) {
    const ssize_t n = ::read(pipe, part, sizeof part);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return out;
    out.append(part, static_cast<std::size_t>(n));
  }
}

Result<Moment> parse_report(std::string_view text) {
  Moment out;
  if (text.starts_with(kStamp) && text.size() > sizeof out) {
    std::memcpy(&out, text.data() + 1, sizeof out);
    text.remove_prefix(1 + sizeof out);
  }
  if (text.size() > 1) return fail(static_cast<Code>(text[1]), std::string(text.substr(2)));
  return out;
}

Error become_container(const StartSpec& spec, const Program& program, int report) {
  const auto prepared = [&]() -> Result<void> {
    PLIM_CHECK(enter_cgroups(spec));
    PLIM_CHECK(set_limits(spec));
    if (spec.own_mounts) PLIM_CHECK(set_up_mounts(spec));
    if (spec.own_processes && !spec.hostname.empty() &&
        ::sethostname(spec.hostname.data(), spec.hostname.size()) != 0)
      return fail_errno(errno, "cannot set the host name");
    if (!spec.cwd.empty() && ::chdir(spec.cwd.c_str()) != 0)
      return fail_errno(errno, fmt::format("cannot enter the working directory {}", spec.cwd));
    return become_user(spec);
  }();
  if (!prepared) return prepared.error();
  // Yield first to get a fresh time slice. On a busy machine the preparation has used up the old
  // one, and other processes would run between this time stamp and the start of the program.
  ::sched_yield();
  report_start(report);
  return program.exec();
}

// Reports why the child could not start the program. The text is short enough for the pipe's
// buffer, because the reader may be waiting for our end.
[[noreturn]] void report_and_exit(int pipe, const Error& error) {
  const std::string text = fmt::format("{:c}{:c}{}", kFailure, static_cast<char>(error.code),
                                       std::string_view(error.message).substr(0, kLastWords));
  (void)!::write(pipe, text.data(), text.size());
  ::_exit(128);
}

using Clone = pid_t (*)(unsigned long flags, const std::function<void()>& child);

// Runs `child` in a process created with `flags`. Its argument is the pipe for reports, and it
// returns only on failure.
template <class Child>
Result<Spawned> spawn(Clone clone, unsigned long flags, const Child& child) {
  PLIM_TRY(Pipe out, make_pipe());
  PLIM_TRY(Pipe err, make_pipe());
  PLIM_TRY(Pipe report, make_pipe());
  const pid_t pid = clone(flags, [&] {
    ::setsid();
    reset_signals();
    use_standard_streams(out.write.get(), err.write.get());
    report_and_exit(report.write.get(), child(report.write.get()));
  });
  if (pid < 0) return fail_errno(errno, "cannot create a process");
  report.write.reset();
  auto started = parse_report(read_report(report.read.get()));
  if (!started) {
    ::waitpid(pid, nullptr, 0);
    return started.error();
  }
  ::fcntl(out.read.get(), F_SETFL, O_NONBLOCK);
  ::fcntl(err.read.get(), F_SETFL, O_NONBLOCK);
  return Spawned{pid, *started, std::move(out.read), std::move(err.read), {}};
}

// A process that joins another PID namespace stays outside itself; only its children are inside.
[[noreturn]] void run_inside(const StartSpec& container, const Program& program, int report) {
  const pid_t inner = ::fork();
  if (inner < 0) report_and_exit(report, fail_errno(errno, "cannot create a process"));
  if (inner == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    auto user = become_user(container);
    report_and_exit(report, user ? program.exec() : user.error());
  }
  ::close(report);
  int status = 0;
  while (::waitpid(inner, &status, 0) < 0 && errno == EINTR) {
  }
  ::_exit(WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
}

Fd namespace_of(pid_t pid, std::string_view name) {
  return Fd(::open(fmt::format("/proc/{}/ns/{}", pid, name).c_str(), O_RDONLY | O_CLOEXEC));
}

Result<void> join_namespaces(const StartSpec& container, pid_t pid) {
  Fd root(::open(fmt::format("/proc/{}/root", pid).c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  std::vector<std::pair<Fd, int>> spaces;
  auto add = [&](const char* name, int kind) {
    spaces.emplace_back(namespace_of(pid, name), kind);
  };
  if (container.own_processes) {
    add("pid", CLONE_NEWPID);
    add("ipc", CLONE_NEWIPC);
    add("uts", CLONE_NEWUTS);
  }
  if (container.own_mounts) add("mnt", CLONE_NEWNS);
  for (const auto& [fd, kind] : spaces)
    if (!fd || ::setns(fd.get(), kind) != 0)
      return fail_errno(errno, "cannot enter the container's namespaces");
  if (container.own_mounts && (!root || ::fchdir(root.get()) != 0 || ::chroot(".") != 0))
    return fail_errno(errno, "cannot enter the container's root");
  if (!container.cwd.empty() && ::chdir(container.cwd.c_str()) != 0)
    return fail_errno(errno, fmt::format("cannot enter {}", container.cwd));
  return {};
}

}  // namespace

Moment Moment::now() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return {.wall = std::chrono::time_point_cast<Nanos>(std::chrono::system_clock::now()),
          .monotonic = std::chrono::seconds(now.tv_sec) + Nanos(now.tv_nsec)};
}

Moment Moment::at(Nanos monotonic) {
  // If we lose the core between the two readings they are far apart, so take the closest of five.
  Moment best = now();
  Nanos error = Nanos::max();
  for (int look = 0; look < 5; ++look) {
    const Moment one = now();
    const Nanos took = now().monotonic - one.monotonic;
    if (took < error) error = took, best = one;
  }
  return {.wall = best.wall + (monotonic - best.monotonic), .monotonic = monotonic};
}

Result<Spawned> spawn_container(const StartSpec& spec) {
  unsigned long flags = 0;
  if (spec.own_mounts) flags |= CLONE_NEWNS;
  if (spec.own_processes) flags |= CLONE_NEWPID | CLONE_NEWIPC | CLONE_NEWUTS;
  const Program program(spec.argv, spec.env);
  PLIM_TRY(Spawned out, spawn(clone_borrowing, flags,
                              [&](int report) { return become_container(spec, program, report); }));
  if (spec.own_mounts) out.mounts = namespace_of(out.pid, "mnt");
  return out;
}

Result<Spawned> spawn_beside(const StartSpec& container, pid_t pid,
                             const std::vector<std::string>& argv) {
  const Program program(argv, container.env);
  return spawn(clone_copy, 0, [&](int report) -> Error {
    if (auto entered = enter_cgroups(container); !entered) return entered.error();
    if (auto joined = join_namespaces(container, pid); !joined) return joined.error();
    if (container.own_processes) run_inside(container, program, report);
    auto user = become_user(container);
    return user ? program.exec() : user.error();
  });
}

int capability_number(std::string_view name) {
  static constexpr std::array<std::string_view, CAP_LAST_CAP + 1> kNames{"CHOWN",
                                                                         "DAC_OVERRIDE",
                                                                         "DAC_READ_SEARCH",
                                                                         "FOWNER",
                                                                         "FSETID",
                                                                         "KILL",
                                                                         "SETGID",
                                                                         "SETUID",
                                                                         "SETPCAP",
                                                                         "LINUX_IMMUTABLE",
                                                                         "NET_BIND_SERVICE",
                                                                         "NET_BROADCAST",
                                                                         "NET_ADMIN",
                                                                         "NET_RAW",
                                                                         "IPC_LOCK",
                                                                         "IPC_OWNER",
                                                                         "SYS_MODULE",
                                                                         "SYS_RAWIO",
                                                                         "SYS_CHROOT",
                                                                         "SYS_PTRACE",
                                                                         "SYS_PACCT",
                                                                         "SYS_ADMIN",
                                                                         "SYS_BOOT",
                                                                         "SYS_NICE",
                                                                         "SYS_RESOURCE",
                                                                         "SYS_TIME",
                                                                         "SYS_TTY_CONFIG",
                                                                         "MKNOD",
                                                                         "LEASE",
                                                                         "AUDIT_WRITE",
                                                                         "AUDIT_CONTROL",
                                                                         "SETFCAP",
                                                                         "MAC_OVERRIDE",
                                                                         "MAC_ADMIN",
                                                                         "SYSLOG",
                                                                         "WAKE_ALARM",
                                                                         "BLOCK_SUSPEND",
                                                                         "AUDIT_READ",
                                                                         "PERFMON",
                                                                         "BPF",
                                                                         "CHECKPOINT_RESTORE"};
  for (std::size_t i = 0; i < kNames.size(); ++i)
    if (kNames[i] == name) return static_cast<int>(i);
  return -1;
}

std::uint64_t default_capabilities() {
  std::uint64_t out = 0;
  for (std::string_view name :
       {"CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "KILL", "SETGID", "SETUID", "SETPCAP",
        "NET_BIND_SERVICE", "NET_RAW", "SYS_CHROOT", "MKNOD", "AUDIT_WRITE", "SETFCAP"})
    out |= std::uint64_t{1} << capability_number(name);
  return out;
}

}  // namespace plim::local::kubelet
