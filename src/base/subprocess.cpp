#include "base/subprocess.hpp"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <string_view>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <unordered_set>

#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <fmt/format.h>

#include "base/argv.hpp"
#include "base/event.hpp"
#include "base/fd.hpp"

namespace plim {
namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace {

// Reads one pipe as the child fills it.
class Collector : public std::enable_shared_from_this<Collector> {
 public:
  Collector(const Executor& loop, Fd pipe, std::size_t limit)
      : pipe_(loop, pipe.release()), limit_(limit) {}

  void start() {
    pipe_.async_wait(pipe_.wait_read,
                     [self = shared_from_this()](const boost::system::error_code& error) {
                       if (!error && self->read_some()) self->start();
                     });
  }

  // Reads what is in the pipe now: after the child's exit that is everything it wrote. Does not
  // wait for a grandchild that still has the pipe open.
  void finish() {
    if (pipe_.is_open()) read_some();
    close();
  }

  void close() {
    boost::system::error_code ignored;
    pipe_.close(ignored);
  }

  Captured take() { return std::exchange(captured_, {}); }

 private:
  // At most one pipe buffer, so that an endless writer cannot block the loop. False at end of file.
  bool read_some() {
    constexpr std::size_t kPipeSize = 64 * 1024;
    char buffer[kPipeSize];
    for (std::size_t total = 0; total < kPipeSize;) {
      ssize_t n = ::read(pipe_.native_handle(), buffer, sizeof buffer - total);
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) return errno == EAGAIN;
      if (n == 0) return false;
      keep(std::string_view(buffer, static_cast<std::size_t>(n)));
      total += static_cast<std::size_t>(n);
    }
    return true;
  }

  void keep(std::string_view text) {
    const std::size_t room = limit_ - captured_.text.size();
    captured_.truncated |= text.size() > room;
    captured_.text += text.substr(0, room);
  }

  asio::posix::stream_descriptor pipe_;
  std::size_t limit_;
  Captured captured_;
};

struct Pipe {
  Fd ours;
  Fd childs;
};

Result<Pipe> make_pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return fail_errno(errno, "cannot make a pipe");
  Pipe out{Fd(ends[0]), Fd(ends[1])};
  // Only our end is non-blocking: the child expects a blocking one.
  ::fcntl(out.ours.get(), F_SETFL, O_NONBLOCK);
  return out;
}

// The input as a file in memory: unlike a pipe, it needs no writer and raises no SIGPIPE.
Result<Fd> make_input(std::string_view text) {
  Fd fd(::memfd_create("stdin", MFD_CLOEXEC));
  if (!fd) return fail_errno(errno, "cannot make a file in memory");
  while (!text.empty()) {
    ssize_t n = ::write(fd.get(), text.data(), text.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return fail_errno(errno, "cannot write to a file in memory");
    text.remove_prefix(static_cast<std::size_t>(n));
  }
  ::lseek(fd.get(), 0, SEEK_SET);
  return fd;
}

std::vector<std::string> make_environment(const Command& command) {
  std::vector<std::string> out;
  std::unordered_set<std::string_view> replaced;
  for (const auto& [name, value] : command.env) {
    if (!replaced.insert(name).second) continue;
    out.push_back(name + "=" + value);
  }
  for (char** entry = environ; command.inherit_env && *entry != nullptr; ++entry) {
    std::string_view text(*entry);
    if (!replaced.contains(text.substr(0, text.find('=')))) out.emplace_back(text);
  }
  return out;
}

// The two C structs of posix_spawn. Their setters fail only without memory or for bad numbers.
class SpawnPlan {
 public:
  SpawnPlan() {
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawnattr_init(&attributes);
  }

  ~SpawnPlan() {
    ::posix_spawn_file_actions_destroy(&actions);
    ::posix_spawnattr_destroy(&attributes);
  }

  SpawnPlan(const SpawnPlan&) = delete;
  SpawnPlan& operator=(const SpawnPlan&) = delete;

  void use(int fd, int as) { ::posix_spawn_file_actions_adddup2(&actions, fd, as); }

  void use_null(int as, int flags) {
    ::posix_spawn_file_actions_addopen(&actions, as, "/dev/null", flags, 0);
  }

  void set_attributes(bool own_group) {
    // Our own settings (SIGPIPE ignored, signals blocked) would be inherited.
    sigset_t all, none;
    ::sigfillset(&all);
    ::sigemptyset(&none);
    ::posix_spawnattr_setsigdefault(&attributes, &all);
    ::posix_spawnattr_setsigmask(&attributes, &none);
    ::posix_spawnattr_setpgroup(&attributes, 0);
    int flags = POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK;
    if (own_group) flags |= POSIX_SPAWN_SETPGROUP;
    ::posix_spawnattr_setflags(&attributes, static_cast<short>(flags));
  }

  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
};

// Connects the child's standard input. The result must stay open until the child has started.
Result<Fd> connect_input(const Command& command, SpawnPlan& plan) {
  if (command.input) {
    PLIM_TRY(Fd input, make_input(*command.input));
    plan.use(input.get(), 0);
    return input;
  }
  if (command.inherit_input)
    plan.use(0, 0);
  else
    plan.use_null(0, O_RDONLY);
  return Fd();
}

Result<pid_t> start_program(const Command& command, SpawnPlan& plan) {
  ::posix_spawn_file_actions_addclosefrom_np(&plan.actions, 3);
  if (!command.cwd.empty())
    ::posix_spawn_file_actions_addchdir_np(&plan.actions, command.cwd.c_str());
  plan.set_attributes(command.own_group);

  auto argv = command.argv;
  auto environment = make_environment(command);
  pid_t pid = 0;
  const int problem = ::posix_spawnp(&pid, argv[0].c_str(), &plan.actions, &plan.attributes,
                                     argv_of(argv).data(), argv_of(environment).data());
  if (problem != 0) {
    const std::string where = command.cwd.empty() ? "" : fmt::format(" in {}", command.cwd);
    return fail_errno(problem, fmt::format("cannot start {}{}", argv[0], where));
  }
  return pid;
}

bool holds_nul(const Command& command) {
  auto bad = [](const std::string& text) { return text.find('\0') != text.npos; };
  for (const std::string& arg : command.argv)
    if (bad(arg)) return true;
  for (const auto& [name, value] : command.env)
    if (bad(name) || bad(value)) return true;
  return bad(command.cwd);
}

Result<void> check_command(const Command& command) {
  if (command.argv.empty() || command.argv[0].empty())
    return fail(Code::invalid, "no program to start");
  if (holds_nul(command))
    return fail(Code::invalid,
                fmt::format("cannot start {}: an argument contains a NUL byte", command.argv[0]));
  return {};
}

}  // namespace

// Shared with the handler that waits for the exit, which reaps the child even after its handle is
// gone.
struct Process::Child : std::enable_shared_from_this<Process::Child> {
  Child(const Executor& loop, pid_t id, bool group)
      : pid(id), own_group(group), exit_fd(loop), poll_timer(loop), ended(loop) {}

  ~Child() {
    if (exit) return;
    kill_rest = true;
    send(SIGKILL);
    while (!reap(0)) {
    }  // the loop is gone; a killed child ends soon
  }

  void watch(bool by_polling) {
    // Called by number: glibc 2.36 declares pidfd_open without extern "C".
    Fd fd(by_polling ? -1 : static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
    if (!fd) return poll(1ms);
    exit_fd.assign(fd.release());
    exit_fd.async_wait(exit_fd.wait_read,
                       [self = shared_from_this()](const boost::system::error_code& error) {
                         if (!error) self->look(50ms);
                       });
  }

  void poll(Nanos interval) {
    poll_timer.expires_after(std::chrono::duration_cast<SteadyTime::duration>(interval));
    poll_timer.async_wait(
        [self = shared_from_this(), interval](const boost::system::error_code& error) {
          if (!error) self->look(std::min<Nanos>(2 * interval, 50ms));
        });
  }

  void look(Nanos again_after) {
    if (!reap(WNOHANG)) return poll(again_after);
    boost::system::error_code ignored;
    exit_fd.close(ignored);
    if (out) out->finish();
    if (err) err->finish();
    ended.notify();
  }

  // True once the child has ended and `exit` is set.
  bool reap(int flags) {
    siginfo_t info{};
    // First without reaping: while the child is a zombie, the ID of its group is not reused.
    if (::waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOWAIT | flags) != 0) {
      if (errno == EINTR) return false;
      exit = Exit{.code = -1};
      return true;
    }
    if (info.si_pid == 0) return false;
    if (kill_rest && own_group) ::kill(-pid, SIGKILL);
    ::waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED);
    const bool normal = info.si_code == CLD_EXITED;
    exit = Exit{.code = normal ? info.si_status : 0, .signal = normal ? 0 : info.si_status};
    return true;
  }

  void send(int number) {
    if (!exit) ::kill(own_group ? -pid : pid, number);
  }

  pid_t pid;
  bool own_group;
  bool kill_rest = false;  // kill the rest of the group with the child
  std::optional<Exit> exit;
  asio::posix::stream_descriptor exit_fd;
  asio::steady_timer poll_timer;
  Event ended;
  std::shared_ptr<Collector> out, err;
};

std::string Exit::describe() const {
  if (signal != 0) return fmt::format("killed by signal {} ({})", signal, ::strsignal(signal));
  if (code < 0) return "unknown exit code";
  return fmt::format("exit code {}", code);
}

Process::Process(std::shared_ptr<Child> child) : child_(std::move(child)) {}

Process::Process(Process&&) noexcept = default;

Process& Process::operator=(Process&& other) noexcept {
  std::swap(child_, other.child_);
  return *this;
}

Process::~Process() {
  if (!child_) return;
  if (child_->out) child_->out->close();
  if (child_->err) child_->err->close();
  child_->kill_rest = true;
  child_->send(SIGKILL);
}

Result<Process> Process::spawn(const Executor& loop, const Command& command) {
  PLIM_CHECK(check_command(command));
  SpawnPlan plan;
  PLIM_TRY(const Fd input, connect_input(command, plan));

  std::vector<Fd> childs_ends;
  auto connect = [&](const Output& output, int as) -> Result<std::shared_ptr<Collector>> {
    switch (output.kind_) {
      case Output::Kind::inherit:
        plan.use(as, as);
        return nullptr;
      case Output::Kind::descriptor:
        plan.use(output.fd_, as);
        return nullptr;
      case Output::Kind::capture:
        break;
    }
    PLIM_TRY(Pipe pipe, make_pipe());
    plan.use(pipe.childs.get(), as);
    childs_ends.push_back(std::move(pipe.childs));
    return std::make_shared<Collector>(loop, std::move(pipe.ours), output.limit_);
  };
  PLIM_TRY(auto out, connect(command.out, 1));
  PLIM_TRY(auto err, connect(command.err, 2));

  PLIM_TRY(const pid_t pid, start_program(command, plan));
  auto child = std::make_shared<Child>(loop, pid, command.own_group);
  child->out = std::move(out);
  child->err = std::move(err);
  if (child->out) child->out->start();
  if (child->err) child->err->start();
  child->watch(command.poll_for_exit);
  return Process(std::move(child));
}

pid_t Process::pid() const {
  return child_->pid;
}

std::optional<Exit> Process::exit() const {
  return child_->exit;
}

void Process::signal(int number) {
  child_->send(number);
}

Task<Exit> Process::wait() {
  auto child = child_;
  while (!child->exit) co_await child->ended.wait();
  co_return *child->exit;
}

Task<bool> Process::wait_until(SteadyTime deadline) {
  auto child = child_;
  while (!child->exit) {
    const bool in_time = co_await child->ended.wait_until(system_clock(), deadline);
    if (!in_time) break;
  }
  co_return child->exit.has_value();
}

Task<Exit> Process::stop(Nanos grace) {
  auto child = child_;
  child->kill_rest = true;
  child->send(SIGTERM);
  const bool ended = co_await wait_until(system_clock().steady() + grace);
  if (!ended) child->send(SIGKILL);
  co_return co_await wait();
}

Captured Process::take_out() {
  return child_->out ? child_->out->take() : Captured{};
}

Captured Process::take_err() {
  return child_->err ? child_->err->take() : Captured{};
}

Task<Result<Finished>> run(Command command) {
  Executor loop = co_await current_loop();
  PLIM_CO_TRY(Process process, Process::spawn(loop, command));
  const bool ended = co_await process.wait_until(system_clock().steady() + command.timeout);
  if (!ended) {
    co_await process.stop(command.grace);
    const std::chrono::duration<double> limit = command.timeout;
    const std::string what =
        fmt::format("{} did not end within {} s and was stopped", command.argv[0], limit.count());
    co_return fail(Code::timeout, what);
  }
  Finished finished;
  finished.exit = *process.exit();
  finished.out = process.take_out();
  finished.err = process.take_err();
  co_return finished;
}

}  // namespace plim
