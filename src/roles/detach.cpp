#include "roles/detach.hpp"

#include <array>
#include <cerrno>
#include <cstdlib>
#include <fcntl.h>
#include <optional>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>

#include "base/json.hpp"

namespace plim::roles {
namespace {

constexpr char kLine = 'l', kReady = 'r', kFailed = 'f';

Failure system_failure(std::string_view what) {
  return file_failure(Plm::local_failed, fail_errno(errno, what));
}

std::string failure_text(const Failure& failure) {
  return to_json(json::object{{"code", static_cast<int>(failure.code)},
                              {"exit", failure.exit},
                              {"what", failure.what},
                              {"tried", failure.tried},
                              {"next", failure.next}});
}

Failure read_failure(std::string_view text) {
  auto value = parse_json(text);
  if (!value) return Failure{.what = std::string(text)};
  return Failure{.code = static_cast<Plm>(int_at(*value, {"code"}).value_or(0)),
                 .exit = static_cast<int>(int_at(*value, {"exit"}).value_or(1)),
                 .what = std::string(text_at(*value, {"what"})),
                 .tried = std::string(text_at(*value, {"tried"})),
                 .next = std::string(text_at(*value, {"next"}))};
}

// Called in the new process: detaches from the terminal.
bool leave_terminal(const std::string& log) {
  Fd null(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  Fd out(::open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
  return ::setsid() >= 0 && null && out && ::dup2(null.get(), STDIN_FILENO) >= 0 &&
         ::dup2(out.get(), STDOUT_FILENO) >= 0 && ::dup2(out.get(), STDERR_FILENO) >= 0 &&
         ::chdir("/") == 0;
}

// Reads lines from the pipe until a deadline.
class Listener {
 public:
  using Clock = std::chrono::steady_clock;

  Listener(int fd, Clock::time_point deadline) : fd_(fd), deadline_(deadline) {}

  enum class End { line, closed, late };

  End next(std::string& line) {
    for (;;) {
      if (auto end = text_.find('\n'); end != text_.npos) {
        line = text_.substr(0, end);
        text_.erase(0, end + 1);
        return End::line;
      }
      auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline_ - Clock::now()).count();
      pollfd waiting{.fd = fd_, .events = POLLIN, .revents = 0};
      int ready = left <= 0 ? 0 : ::poll(&waiting, 1, static_cast<int>(left));
      if (ready == 0) return End::late;
      if (ready < 0 && errno == EINTR) continue;
      std::array<char, 4096> buffer{};
      ssize_t n = ::read(fd_, buffer.data(), buffer.size());
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) return End::closed;
      text_.append(buffer.data(), static_cast<std::size_t>(n));
    }
  }

 private:
  int fd_;
  Clock::time_point deadline_;
  std::string text_;
};

Outcome<std::string> listen(int fd, pid_t child, const DetachOptions& options) {
  Listener listener(fd, Listener::Clock::now() + options.wait);
  std::string line;
  for (;;) {
    switch (listener.next(line)) {
      case Listener::End::line:
        break;
      case Listener::End::closed:
        return tl::unexpected(Failure{
            .code = Plm::local_failed,
            .exit = 1,
            .what = fmt::format("process {} ended before it was ready", static_cast<int>(child)),
            .tried = options.log,
            .next = "read the log file above"});
      case Listener::End::late:
        return tl::unexpected(
            Failure{.code = Plm::timed_out,
                    .exit = 5,
                    .what = fmt::format("process {} is not ready yet; it keeps running",
                                        static_cast<int>(child)),
                    .tried = options.log,
                    .next = "check with plimsoll status, or use a longer --wait"});
    }
    if (line.empty()) continue;
    std::string_view text = std::string_view(line).substr(1);
    if (line[0] == kReady) return std::string(text);
    if (line[0] == kFailed) return tl::unexpected(read_failure(text));
    if (options.on_line) options.on_line(text);
  }
}

}  // namespace

void Starter::say(std::string_view line) {
  send(kLine, line);
}

void Starter::ready(std::string_view result) {
  send(kReady, result);
  pipe_.reset();
}

void Starter::failed(const Failure& failure) {
  send(kFailed, failure_text(failure));
  pipe_.reset();
}

void Starter::send(char kind, std::string_view text) {
  if (!pipe_) return;
  std::string line = fmt::format("{}{}\n", kind, text);
  (void)!::write(pipe_.get(), line.data(), line.size());
}

Outcome<std::string> detach(const DetachOptions& options,
                            const std::function<int(Starter& starter)>& run) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return tl::unexpected(system_failure("no pipe"));
  Fd reading(ends[0]), writing(ends[1]);
  pid_t child = ::fork();
  if (child < 0) return tl::unexpected(system_failure("cannot start a process"));
  if (child > 0) {
    writing.reset();
    return listen(reading.get(), child, options);
  }
  reading.reset();
  Starter starter(std::move(writing));
  if (!leave_terminal(options.log)) {
    starter.failed(system_failure(fmt::format("cannot write {}", options.log)));
    ::_exit(1);
  }
  ::_exit(run(starter));
}

}  // namespace plim::roles
