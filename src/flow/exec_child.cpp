#include "flow/exec_child.hpp"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>

#include "base/argv.hpp"
#include "base/log.hpp"
#include "base/text.hpp"

extern char** environ;

namespace plim::flow {
namespace {

constexpr std::size_t kLastWords = 1024;
constexpr int kLookEveryMs = 100;  // how often to check for a cancelled slice

struct Pipe {
  Fd read, write;
};

Result<Pipe> make_pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return fail_errno(errno, "cannot create a pipe");
  return Pipe{.read = Fd(ends[0]), .write = Fd(ends[1])};
}

// Owns the attributes and file actions of posix_spawn.
class SpawnPlan {
 public:
  SpawnPlan() {
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
    sigset_t all;
    sigfillset(&all);
    posix_spawnattr_setsigdefault(&attributes, &all);
    sigemptyset(&all);
    posix_spawnattr_setsigmask(&attributes, &all);
    posix_spawnattr_setpgroup(&attributes, 0);
    posix_spawnattr_setflags(
        &attributes, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP);
  }

  ~SpawnPlan() {
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
  }

  SpawnPlan(const SpawnPlan&) = delete;
  SpawnPlan& operator=(const SpawnPlan&) = delete;

  posix_spawn_file_actions_t actions = {};
  posix_spawnattr_t attributes = {};
};

std::vector<std::string> environment_with(const ExecCommand& command) {
  std::vector<std::string> out;
  for (char** at = environ; *at != nullptr; ++at) {
    std::string_view name = cut(*at, '=').first;
    bool replaced = false;
    for (const auto& [key, value] : command.env) replaced = replaced || key == name;
    if (!replaced) out.emplace_back(*at);
  }
  for (const auto& [key, value] : command.env) out.push_back(key + "=" + value);
  return out;
}

}  // namespace

Result<ExecChild> ExecChild::spawn(const ExecCommand& command) {
  PLIM_TRY(Pipe in, make_pipe());
  PLIM_TRY(Pipe out, make_pipe());
  PLIM_TRY(Pipe err, make_pipe());
  SpawnPlan plan;
  posix_spawn_file_actions_adddup2(&plan.actions, in.read.get(), STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&plan.actions, out.write.get(), STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&plan.actions, err.write.get(), STDERR_FILENO);
  if (!command.cwd.empty())
    posix_spawn_file_actions_addchdir_np(&plan.actions, command.cwd.c_str());
  std::vector<std::string> argv = command.argv, env = environment_with(command);
  ExecChild child;
  int error = ::posix_spawnp(&child.pid_, argv[0].c_str(), &plan.actions, &plan.attributes,
                             argv_of(argv).data(), argv_of(env).data());
  if (error != 0) {
    child.pid_ = -1;
    return fail_errno(error, fmt::format("cannot start {}{}{}", command.argv[0],
                                         command.cwd.empty() ? "" : " in ", command.cwd));
  }
  child.in_ = std::move(in.write);
  child.out_ = std::move(out.read);
  child.err_ = std::move(err.read);
  for (int fd : {child.in_.get(), child.out_.get(), child.err_.get()})
    ::fcntl(fd, F_SETFL, O_NONBLOCK);
  return child;
}

ExecChild::ExecChild(ExecChild&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      in_(std::move(other.in_)),
      out_(std::move(other.out_)),
      err_(std::move(other.err_)),
      last_words_(std::move(other.last_words_)) {}

ExecChild::~ExecChild() {
  if (pid_ <= 0) return;
  ::kill(-pid_, SIGKILL);
  while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

void ExecChild::read_errors() {
  static thread_local log::Throttle throttle{std::chrono::seconds(1)};
  char buffer[4096];
  ssize_t n = ::read(err_.get(), buffer, sizeof buffer);
  if (n == 0) err_.reset();
  if (n <= 0) return;
  std::string_view text(buffer, static_cast<std::size_t>(n));
  throttle.write(log::Level::warn, "flow", "exec wrote to standard error", {{"text", trim(text)}});
  last_words_.append(text);
  if (last_words_.size() > kLastWords) last_words_.erase(0, last_words_.size() - kLastWords);
}

Result<void> ExecChild::talk(const Clock& clock, const Talk& talk) {
  const SteadyTime deadline = clock.steady() + talk.timeout;
  std::string_view input = talk.input;
  char buffer[64 * 1024];
  while (true) {
    if (input.empty() && talk.close_input) in_.reset();
    pollfd waiting[3] = {{.fd = out_.get(), .events = POLLIN, .revents = 0},
                         {.fd = err_ ? err_.get() : -1, .events = POLLIN, .revents = 0},
                         {.fd = input.empty() ? -1 : in_.get(), .events = POLLOUT, .revents = 0}};
    int ready = ::poll(waiting, 3, kLookEveryMs);
    if (ready < 0 && errno != EINTR) return fail_errno(errno, "cannot wait for the program");
    if (talk.is_cancelled()) return fail(Code::cancelled, "the slice was cancelled");
    if (clock.steady() > deadline)
      return fail(Code::timeout, fmt::format("no answer within {} ms", talk.timeout.count()));
    if (ready <= 0) continue;
    if (waiting[1].revents != 0) read_errors();
    if (waiting[2].revents != 0) {
      ssize_t n = ::write(in_.get(), input.data(), input.size());
      if (n > 0) input.remove_prefix(static_cast<std::size_t>(n));
      // A program may stop reading when it has enough, as `head` does. Only its output counts.
      if (n < 0 && errno == EPIPE) input = {};
    }
    if (waiting[0].revents == 0) continue;
    ssize_t n = ::read(out_.get(), buffer, sizeof buffer);
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) continue;
    if (n <= 0) return {};
    PLIM_TRY(bool done, talk.output({buffer, static_cast<std::size_t>(n)}));
    if (done) return {};
  }
}

ExecChild::End ExecChild::wait() {
  in_.reset();
  int status = 0;
  while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  if (err_) read_errors();
  ::kill(-pid_, SIGKILL);  // kill the processes that it started
  pid_ = -1;
  return {.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 0,
          .signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0,
          .last_words = std::string(trim(last_words_))};
}

std::string ExecChild::End::describe() const {
  if (signal == 0 && exit_code == 0) return {};
  std::string out = signal != 0
                        ? fmt::format("killed by signal {} ({})", signal, ::strsignal(signal))
                        : fmt::format("exit code {}", exit_code);
  if (!last_words.empty()) out += fmt::format(": {}", last_words);
  return out;
}

}  // namespace plim::flow
