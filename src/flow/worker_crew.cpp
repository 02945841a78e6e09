#include "flow/worker_crew.hpp"

#include <cerrno>
#include <sys/socket.h>
#include <thread>

#include <fmt/format.h>

#include "base/log.hpp"
#include "base/subprocess.hpp"
#include "flow/worker.hpp"

namespace plim::flow {
namespace {

using namespace std::chrono_literals;

constexpr Nanos kFirstPause = 20ms;
constexpr Nanos kLongestPause = 2s;

// The first worker that ends without sending anything is replaced at once, later ones after growing
// pauses.
Nanos pause_after(unsigned silent_ends) {
  if (silent_ends < 2) return Nanos(0);
  return std::min(kLongestPause, kFirstPause * (1u << std::min(silent_ends - 2, 7u)));
}

struct SocketPair {
  Fd ours, theirs;
};

Result<SocketPair> make_pair_of_sockets() {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    return fail_errno(errno, "cannot create a socket pair");
  return SocketPair{.ours = Fd(ends[0]), .theirs = Fd(ends[1])};
}

}  // namespace

WorkerCrew::WorkerCrew(const Executor& loop, Clock& clock, Settings settings, Handlers handlers)
    : clock_(clock),
      settings_(std::move(settings)),
      handlers_(std::move(handlers)),
      changed_(loop),
      tasks_(loop) {}

WorkerCrew::~WorkerCrew() = default;

void WorkerCrew::start() {
  for (unsigned i = 0; i < settings_.workers; ++i) tasks_.spawn("flow worker", keep_worker());
}

void WorkerCrew::send(WorkerNumber worker, std::string_view bytes) {
  if (auto at = links_.find(worker); at != links_.end()) at->second->send(bytes);
}

void WorkerCrew::connect(WorkerNumber number, Fd socket) {
  WorkerLink::Handlers handlers{.frame =
                                    [this, number](const Frame& frame) {
                                      silent_.erase(number);
                                      handlers_.frame(number, frame);
                                    },
                                .closed =
                                    [this, number] {
                                      links_.erase(number);
                                      changed_.notify();
                                    }};
  links_[number] = WorkerLink::start(tasks_.executor(), std::move(socket), std::move(handlers));
}

Task<void> WorkerCrew::until_left(WorkerNumber number) {
  while (links_.contains(number)) co_await changed_.wait();
}

Task<Result<std::string>> WorkerCrew::run_process(WorkerNumber number) {
  PLIM_CO_TRY(SocketPair sockets, make_pair_of_sockets());
  Command command;
  command.argv = {settings_.program, "flow-worker"};
  command.out = Output::to(sockets.theirs.get());
  command.err = Output::inherited();
  PLIM_CO_TRY(Process process, Process::spawn(tasks_.executor(), command));
  sockets.theirs.reset();
  connect(number, std::move(sockets.ours));
  co_await until_left(number);
  // The worker closed its socket, so it is about to end. If it does not, kill it, so that it cannot
  // output anything.
  Exit exit = co_await process.stop(1s);
  co_return exit.describe();
}

Task<Result<std::string>> WorkerCrew::run_thread(WorkerNumber number) {
  PLIM_CO_TRY(SocketPair sockets, make_pair_of_sockets());
  connect(number, std::move(sockets.ours));
  // Joined when this coroutine ends, also when it is cancelled: its socket is closed by then.
  std::jthread thread([fd = sockets.theirs.release(), &clock = std::as_const(clock_)] {
    run_worker(Fd(fd), WhenLost::leave, clock);
  });
  co_await until_left(number);
  co_return std::string();
}

Task<void> WorkerCrew::keep_worker() {
  unsigned silent_ends = 0;
  while (!stopping_) {
    WorkerNumber number = ++last_;
    silent_.insert(number);
    Result<std::string> ended = std::string();
    if (settings_.threads)
      ended = co_await run_thread(number);
    else
      ended = co_await run_process(number);
    std::string how = ended ? *ended : ended.error().message;
    handlers_.left(number, how);
    if (stopping_) co_return;
    silent_ends = silent_.erase(number) > 0 ? silent_ends + 1 : 0;
    co_await clock_.sleep(pause_after(silent_ends));
  }
}

Task<void> WorkerCrew::stop(Nanos grace) {
  stopping_ = true;
  for (auto& [number, link] : links_) link->send(encode_shutdown());
  const SteadyTime deadline = clock_.steady() + grace;
  while (!links_.empty()) {
    bool in_time = co_await changed_.wait_until(clock_, deadline);
    if (!in_time) break;
  }
  // Workers that are left see the end of the stream. Processes are killed with their handles.
  for (auto& [number, link] : links_) link->close();
  links_.clear();
  co_await tasks_.stop();
}

}  // namespace plim::flow
