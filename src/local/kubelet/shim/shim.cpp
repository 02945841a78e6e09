#include "local/kubelet/shim/shim.hpp"

#include <algorithm>
#include <cerrno>
#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>

#include "base/files.hpp"
#include "local/kubelet/runtime/process_tree.hpp"

namespace plim::local::kubelet {

namespace {

constexpr std::size_t kExecOutput = 16 << 10;  // of a probe or hook; the rest is dropped
constexpr std::size_t kMaxRequest = 8 << 20;
constexpr std::string_view kTick = "{}\n";  // there is more to read

Nanos monotonic_now() {
  return Moment::now().monotonic;
}

WallTime wall_now() {
  return Moment::now().wall;
}

std::string container_entry(const std::string& id) {
  return "PLIMSOLL_CONTAINER_ID=" + id;
}

json::value error_reply(const Error& error) {
  return json::object{{"error", error.message}, {"code", std::string(reason(error.code))}};
}

// Passes pieces to `take` until the pipe is empty for now or eight pieces were read. Closes the
// pipe at its end.
template <class Take>
void drain(Fd& pipe, const Take& take) {
  char buffer[16 << 10];
  for (int round = 0; pipe && round < 8; ++round) {
    const ssize_t n = ::read(pipe.get(), buffer, sizeof buffer);
    if (n > 0) {
      take(std::string_view(buffer, static_cast<std::size_t>(n)));
    } else if (n == 0 || (errno != EAGAIN && errno != EINTR)) {
      pipe.reset();
    } else if (errno == EAGAIN) {
      return;
    }
  }
}

int exit_code_of(int status) {
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

Shim::Shim(Fd listener, Fd signals) : listener_(std::move(listener)), signals_(std::move(signals)) {
  changed();
}

void Shim::run() {
  while (!quitting_) {
    wait_for_something();
    reap();
    read_pipes();
    stop_overdue_execs();
    accept_connections();
    for (Connection& connection : connections_) serve(connection);
    finish_execs();
    for (Connection& connection : connections_)
      while (!connection.out.empty()) {
        const ssize_t n = ::send(connection.fd.get(), connection.out.data(), connection.out.size(),
                                 MSG_NOSIGNAL | MSG_DONTWAIT);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0 && errno != EAGAIN) connection.at_end = true, connection.out.clear();
        if (n <= 0) break;
        connection.out.erase(0, static_cast<std::size_t>(n));
      }
    // If the client is gone, its program is killed.
    for (Connection& connection : connections_)
      if (connection.at_end && connection.exec && !connection.exec->ended)
        ::kill(-connection.exec->pid, SIGKILL);
    mounts_to_drop_.clear();  // takes milliseconds, so only after all replies were sent
    connections_.remove_if([](const Connection& c) {
      return c.at_end && c.out.empty() && (!c.exec || c.exec->ended);
    });
  }
  end_everything();
}

void Shim::wait_for_something() {
  std::vector<pollfd> polled{{listener_.get(), POLLIN, 0}, {signals_.get(), POLLIN, 0}};
  for (const Container& container : containers_)
    for (const Fd* pipe : {&container.out, &container.err})
      if (*pipe) polled.push_back({pipe->get(), POLLIN, 0});
  for (const Connection& connection : connections_) {
    short events = connection.at_end ? 0 : POLLIN;
    if (!connection.out.empty()) events |= POLLOUT;
    if (events != 0) polled.push_back({connection.fd.get(), events, 0});
    if (!connection.exec) continue;
    for (const Fd* pipe : {&connection.exec->out, &connection.exec->err})
      if (*pipe) polled.push_back({pipe->get(), POLLIN, 0});
  }
  int limit = -1;
  for (const Connection& connection : connections_) {
    if (!connection.exec || connection.exec->deadline == Nanos::zero()) continue;
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(connection.exec->deadline - monotonic_now());
    const int wait = static_cast<int>(std::clamp<std::int64_t>(left.count(), 0, 3'600'000));
    limit = limit < 0 ? wait : std::min(limit, wait);
  }
  if (slice_ != Slice::brief) set_own_slice(slice_ = Slice::brief);
  ::poll(polled.data(), polled.size(), limit);
}

void Shim::accept_connections() {
  for (;;) {
    Fd fd(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!fd) return;
    connections_.emplace_back().fd = std::move(fd);
  }
}

void Shim::serve(Connection& connection) {
  char buffer[16 << 10];
  while (!connection.at_end) {
    const ssize_t n = ::read(connection.fd.get(), buffer, sizeof buffer);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno == EAGAIN) break;
    if (n > 0) connection.in.append(buffer, static_cast<std::size_t>(n));
    if (n <= 0 || connection.in.size() > kMaxRequest) connection.at_end = true;
  }
  for (;;) {
    const auto end = connection.in.find('\n');
    if (end == std::string::npos) return;
    answer(connection, std::string_view(connection.in).substr(0, end));
    connection.in.erase(0, end + 1);
  }
}

void Shim::answer(Connection& connection, std::string_view line) {
  auto reply = [&](const json::value& value) { connection.out += to_json(value) + "\n"; };
  auto request = parse_json(line, "request");
  if (!request) return reply(error_reply(request.error()));
  const std::string_view what = text_at(*request, {"do"});
  if (what == "start") return reply(start(*request));
  if (what == "exec") return start_exec(connection, *request);
  if (what == "signal") return reply(signal(*request));
  if (what == "kill") return reply(kill_container(*request));
  if (what == "watch") {
    connection.watching = true;
    return reply(encode(state()));
  }
  if (what == "follow") {
    const std::string_view id = text_at(*request, {"id"});
    if (find_running(id) == nullptr)
      return reply(error_reply(fail(Code::not_found, "no such running container")));
    connection.following = id;
    connection.out += kTick;  // for lines logged before this request arrived
    return;
  }
  if (what == "quit") {
    quitting_ = true;
    return;
  }
  reply(error_reply(fail(Code::bad_request, fmt::format("unknown request \"{}\"", what))));
}

json::value Shim::start(const json::value& request) {
  const json::value* given = find(request, {"container"});
  auto spec = decode_start_spec(given != nullptr ? *given : json::value());
  if (!spec) return error_reply(spec.error());
  for (const Container& other : containers_)
    if (other.run.id == spec->id)  // a repeated request: the node did not receive the answer
      return json::object{{"run", encode(other.run)}};
  spec->env.push_back(container_entry(spec->id));
  Container made{
      .spec = std::move(*spec), .run = {}, .log = {}, .out = {}, .err = {}, .mounts = {}};
  made.run.id = made.spec.id;
  made.run.name = made.spec.name;
  made.run.tag = made.spec.tag;
  const Moment asked = Moment::now();
  set_own_slice(slice_ = Slice::usual);
  auto spawned = spawn_container(made.spec);
  const Moment started = spawned ? spawned->started : asked;
  made.run.started = started.wall;
  made.run.started_monotonic = started.monotonic;
  if (spawned) {
    made.run.running = true;
    made.run.pid = spawned->pid;
    made.run.pid_start = process_start_ticks(spawned->pid);
    made.out = std::move(spawned->out);
    made.err = std::move(spawned->err);
    made.mounts = std::move(spawned->mounts);
    made.log = std::make_unique<CriLog>(made.spec.log);
  } else {
    made.run.error = spawned.error().message;
    made.run.exit_code = 128;
    made.run.finished = wall_now();
    made.run.finished_monotonic = monotonic_now();
  }
  // Keep the newest two runs of each container: the current and the previous one.
  const auto of_same = [&](const Container& c) { return c.run.name == made.run.name; };
  if (std::count_if(containers_.begin(), containers_.end(), of_same) >= 2) {
    auto oldest = std::find_if(containers_.begin(), containers_.end(), of_same);
    if (!oldest->run.running) containers_.erase(oldest);
  }
  const json::value reply{{"run", encode(made.run)}};
  containers_.push_back(std::move(made));
  changed();
  return reply;
}

json::value Shim::signal(const json::value& request) {
  Container* container = find_running(text_at(request, {"id"}));
  if (container == nullptr) return error_reply(fail(Code::not_found, "no such running container"));
  ::kill(container->run.pid, static_cast<int>(int_at(request, {"signal"}).value_or(SIGTERM)));
  return json::object{};
}

json::value Shim::kill_container(const json::value& request) {
  Container* container = find_running(text_at(request, {"id"}));
  if (container == nullptr) return error_reply(fail(Code::not_found, "no such running container"));
  ::kill(container->run.pid, SIGKILL);
  kill_rest(*container);
  return json::object{};
}

void Shim::start_exec(Connection& connection, const json::value& request) {
  auto reply = [&](const Error& error) { connection.out += to_json(error_reply(error)) + "\n"; };
  Container* container = find_running(text_at(request, {"id"}));
  if (container == nullptr) return reply(fail(Code::not_found, "no such running container"));
  if (connection.exec) return reply(fail(Code::conflict, "this connection already runs a program"));
  const std::vector<std::string> argv = texts_at(request, {"argv"});
  if (argv.empty()) return reply(fail(Code::bad_request, "no command given"));
  auto spawned = spawn_beside(container->spec, container->run.pid, argv);
  if (!spawned) return reply(spawned.error());
  connection.exec = std::make_unique<Exec>();
  connection.exec->pid = spawned->pid;
  connection.exec->out = std::move(spawned->out);
  connection.exec->err = std::move(spawned->err);
  if (const auto limit = int_at(request, {"timeoutMs"}); limit && *limit > 0)
    connection.exec->deadline = monotonic_now() + std::chrono::milliseconds(*limit);
}

void Shim::stop_overdue_execs() {
  const Nanos now = monotonic_now();
  for (Connection& connection : connections_) {
    Exec* exec = connection.exec.get();
    if (exec == nullptr || exec->deadline == Nanos::zero() || now < exec->deadline) continue;
    exec->timed_out = true;
    exec->deadline = Nanos::zero();
    ::kill(-exec->pid, SIGKILL);
  }
}

void Shim::finish_execs() {
  for (Connection& connection : connections_) {
    if (!connection.exec || !connection.exec->ended) continue;
    connection.out += to_json(json::object{{"exitCode", connection.exec->exit_code},
                                           {"timedOut", connection.exec->timed_out},
                                           {"output", connection.exec->output}}) +
                      "\n";
    connection.exec.reset();
  }
}

void Shim::read_pipes() {
  for (Container& container : containers_) {
    if (!container.log) continue;
    bool logged = false;
    const auto log_to = [&](LogStream stream) {
      return [&, stream](std::string_view text) {
        container.log->append(stream, text, wall_now());
        logged = true;
      };
    };
    drain(container.out, log_to(LogStream::out));
    drain(container.err, log_to(LogStream::err));
    if (logged) tell_followers(container.run.id, kTick);
  }
  for (Connection& connection : connections_) {
    if (!connection.exec) continue;
    Exec& exec = *connection.exec;
    auto keep = [&](std::string_view text) {
      exec.output.append(text.substr(0, kExecOutput - std::min(kExecOutput, exec.output.size())));
    };
    drain(exec.out, keep);
    drain(exec.err, keep);
  }
}

// If a follower has not read the last tick yet, it needs no other.
void Shim::tell_followers(std::string_view id, std::string_view text) {
  for (Connection& connection : connections_)
    if (connection.following == id && (connection.out.empty() || text != kTick))
      connection.out += text;
}

void Shim::reap() {
  signalfd_siginfo info{};
  while (::read(signals_.get(), &info, sizeof info) == sizeof info)
    if (info.ssi_signo == SIGTERM) quitting_ = true;
  for (;;) {
    // Look first and take the time: reaping a process takes longer.
    siginfo_t seen{};
    if (::waitid(P_ALL, 0, &seen, WEXITED | WNOHANG | WNOWAIT) != 0 || seen.si_pid == 0) return;
    const Moment now = Moment::now();
    const pid_t pid = seen.si_pid;
    int status = 0;
    if (::waitpid(pid, &status, 0) != pid) return;
    for (Container& container : containers_)
      if (container.run.running && container.run.pid == pid) finish(container, status, now);
    for (Connection& connection : connections_) {
      if (!connection.exec || connection.exec->pid != pid) continue;
      read_pipes();
      connection.exec->ended = true;
      connection.exec->exit_code = exit_code_of(status);
    }
  }
}

void Shim::finish(Container& container, int status, const Moment& when) {
  container.run.finished = when.wall;
  container.run.finished_monotonic = when.monotonic;
  container.run.running = false;
  container.run.exit_code = exit_code_of(status);
  container.run.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  kill_rest(container);
  // The pipes hold the last output of the main process. Other processes that hold them are killed.
  for (int round = 0; round < 64 && (container.out || container.err); ++round) read_pipes();
  container.log->finish(wall_now());
  container.log.reset();
  container.out.reset();
  container.err.reset();
  mounts_to_drop_.push_back(std::move(container.mounts));
  tell_followers(container.run.id, "{\"ended\":true}\n");
  changed();
}

// In a PID namespace the kernel does this. Otherwise processes of the container are found by an
// entry in their environment, even in another session. A process that has removed the entry is
// killed
// when the pod ends.
void Shim::kill_rest(const Container& container) {
  if (container.spec.own_processes) return;
  const std::string entry = container_entry(container.run.id);
  for (pid_t pid : descendants_of(::getpid()))
    if (::getsid(pid) == container.run.pid || has_environment_entry(pid, entry))
      ::kill(pid, SIGKILL);
}

void Shim::end_everything() {
  kill_descendants(::getpid());
  reap();
  for (Connection& connection : connections_)
    if (!connection.out.empty())
      (void)!::send(connection.fd.get(), connection.out.data(), connection.out.size(),
                    MSG_NOSIGNAL | MSG_DONTWAIT);
}

void Shim::changed() {
  const std::string text = to_json(encode(state()));
  // The file may be lost if the machine crashes: then the processes are gone too.
  (void)write_file(std::string(kShimState), text, WriteOptions{.mode = 0600, .sync = false});
  for (Connection& connection : connections_)
    if (connection.watching) connection.out += text + "\n";
}

Shim::Container* Shim::find_running(std::string_view id) {
  for (Container& container : containers_)
    if (container.run.running && container.run.id == id) return &container;
  return nullptr;
}

ShimState Shim::state() const {
  ShimState out{.pid = ::getpid(), .runs = {}};
  for (const Container& container : containers_) out.runs.push_back(container.run);
  return out;
}

}  // namespace plim::local::kubelet
