#include "flow/worker.hpp"

#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <csignal>
#include <cstdlib>
#include <deque>
#include <fcntl.h>
#include <filesystem>
#include <mutex>
#include <optional>
#include <poll.h>
#include <set>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>

#include <fmt/format.h>

#include "base/files.hpp"
#include "base/log.hpp"
#include "base/process.hpp"
#include "base/text.hpp"
#include "flow/memory.hpp"
#include "flow/pipeline.hpp"
#include "flow/protocol.hpp"

namespace plim::flow {
namespace {

constexpr int kHeartbeatMs = 1000;

// Kills the programs that a slice has started. Each one leads its own process group.
void end_children() {
  std::error_code error;
  std::filesystem::directory_iterator thread("/proc/self/task", error), end;
  for (; !error && thread != end; thread.increment(error)) {
    auto text = read_file(thread->path().string() + "/children");
    if (!text) continue;
    for (std::string_view word : split(*text, ' '))
      if (auto pid = parse_int<pid_t>(word); pid && *pid > 0) ::kill(-*pid, SIGKILL);
  }
}

// The state that both threads share. The listening thread reads frames, sends heartbeats and fills
// the queue. The working thread takes slices from it and writes reports.
class Link {
 public:
  Link(Fd fd, WhenLost when_lost, const Clock& clock)
      : fd_(std::move(fd)), when_lost_(when_lost), clock_(clock) {}

  bool send(std::string_view bytes) {
    std::lock_guard lock(write_);
    while (!bytes.empty()) {
      ssize_t n = ::send(fd_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) return false;
      bytes.remove_prefix(static_cast<std::size_t>(n));
    }
    return true;
  }

  // Runs until the controller ends or sends shutdown.
  void listen() {
    FrameSplitter splitter;
    char buffer[64 * 1024];
    SteadyTime beat = clock_.steady();
    while (!ended_) {
      pollfd waiting{.fd = fd_.get(), .events = POLLIN, .revents = 0};
      int ready = ::poll(&waiting, 1, kHeartbeatMs);
      if (ready < 0 && errno != EINTR) break;
      const SteadyTime now = clock_.steady();
      if (now - beat >= std::chrono::milliseconds(kHeartbeatMs)) {
        beat = now;
        if (!send(encode(Heartbeat{.rss = resident_bytes()}))) break;
      }
      if (ready <= 0) continue;
      ssize_t n = ::recv(fd_.get(), buffer, sizeof buffer, 0);
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) break;
      splitter.feed({buffer, static_cast<std::size_t>(n)});
      if (!take_frames(splitter)) break;
    }
    if (!ended_) lost();
  }

  // Waits for a slice. Returns nothing when the worker must end.
  std::optional<Slice> next_slice() {
    std::unique_lock lock(state_);
    changed_.wait(lock, [&] { return ended_ || !slices_.empty(); });
    if (ended_) return std::nullopt;
    Slice out = std::move(slices_.front());
    slices_.pop_front();
    return out;
  }

  std::optional<Welcome> wait_for_welcome() {
    std::unique_lock lock(state_);
    changed_.wait(lock, [&] { return ended_ || welcome_; });
    return welcome_;
  }

  bool is_cancelled(SliceKey key, std::uint32_t attempt) {
    if (ended_) return true;
    std::lock_guard lock(state_);
    return cancelled_.contains({key, attempt});
  }

  // The slice is finished, so a cancel for it has no effect any more.
  void forget(SliceKey key, std::uint32_t attempt) {
    std::lock_guard lock(state_);
    cancelled_.erase({key, attempt});
  }

  bool was_lost() const { return lost_; }

  // Wakes the listening thread; the controller sees the end of the stream.
  void close() { ::shutdown(fd_.get(), SHUT_RDWR); }

 private:
  bool take_frames(FrameSplitter& splitter) {
    while (true) {
      auto frame = splitter.next();
      if (!frame) return false;
      if (!*frame) return true;
      if (!take(**frame)) return false;
    }
  }

  bool take(const Frame& frame) {
    std::lock_guard lock(state_);
    if (frame.type == FrameType::shutdown) {
      ended_ = true;
    } else if (frame.type == FrameType::welcome) {
      auto welcome = decode_welcome(frame.payload);
      if (!welcome) return false;
      welcome_ = std::move(*welcome);
    } else if (frame.type == FrameType::dispatch) {
      auto dispatch = decode_dispatch(frame.payload);
      if (!dispatch) return false;
      slices_.push_back(std::move(dispatch->slice));
    } else if (frame.type == FrameType::cancel) {
      auto cancel = decode_cancel(frame.payload);
      if (!cancel) return false;
      cancelled_.insert({cancel->key, cancel->attempt});
    } else {
      return false;
    }
    changed_.notify_all();
    return true;
  }

  void lost() {
    // Do not run destructors: they would wait for the working thread, which may be busy with a
    // slice.
    if (when_lost_ == WhenLost::exit_process) {
      end_children();
      ::_exit(1);
    }
    std::lock_guard lock(state_);
    lost_ = ended_ = true;
    changed_.notify_all();
  }

  Fd fd_;
  WhenLost when_lost_;
  const Clock& clock_;
  std::mutex write_;  // held while one frame is written
  std::mutex state_;  // guards all members below
  std::condition_variable changed_;
  std::atomic<bool> ended_ = false;
  std::atomic<bool> lost_ = false;
  std::optional<Welcome> welcome_;
  std::deque<Slice> slices_;
  std::set<std::pair<SliceKey, std::uint32_t>> cancelled_;
};

Result<Pipeline> build_pipeline(const Welcome& welcome) {
  PLIM_TRY(json::value text, parse_json(welcome.job, "job"));
  CheckedJob checked = check_job(text, 1);
  if (!checked.job) return fail(Code::invalid, checked.describe_errors());
  return Pipeline::build(*checked.job);
}

void work(Link& link, const Welcome& welcome, const Clock& clock) {
  auto pipeline = build_pipeline(welcome);
  if (!pipeline) {
    link.send(encode_broken(pipeline.error().message));
    return;
  }
  bool first = true;
  while (auto slice = link.next_slice()) {
    SliceContext context(clock);
    context.ex_id = welcome.ex_id;
    context.worker_id = welcome.worker_id;
    context.slice_id = slice->id;
    context.slicer_id = slice->key.slicer;
    context.slicer_order = slice->key.order;
    context.attempt = slice->attempt;
    context.created = slice->created;
    context.is_cancelled = [&, key = slice->key, attempt = slice->attempt] {
      return link.is_cancelled(key, attempt);
    };
    SliceReport report = pipeline->run(*slice, context);
    link.forget(slice->key, slice->attempt);
    // A short run ends before the listening thread reports the memory use.
    if (std::exchange(first, false)) link.send(encode(Heartbeat{.rss = resident_bytes()}));
    if (!link.send(encode(report))) return;
  }
}

}  // namespace

int run_worker(Fd controller, WhenLost when_lost, const Clock& clock) {
  Link link(std::move(controller), when_lost, clock);
  if (!link.send(encode(Hello{.pid = static_cast<std::uint32_t>(::getpid())}))) return 1;
  std::thread listener([&] { link.listen(); });
  if (auto welcome = link.wait_for_welcome()) work(link, *welcome, clock);
  link.close();
  listener.join();
  return link.was_lost() ? 1 : 0;
}

int run_worker_process(const Clock& clock) {
  keep_memory_small();
  log::configure({.level = log::Level::warn});
  // Programs that an operation starts must not inherit the controller's socket.
  Fd controller(::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3));
  Fd nowhere(::open("/dev/null", O_WRONLY | O_CLOEXEC));
  if (!controller || !nowhere || ::dup2(nowhere.get(), STDOUT_FILENO) < 0) return 1;
  return run_worker(std::move(controller), WhenLost::exit_process, clock);
}

}  // namespace plim::flow
