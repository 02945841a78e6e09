#include "local/kubelet/runtime/process_events.hpp"

#include <algorithm>
#include <arpa/inet.h>
#include <array>
#include <cerrno>
#include <chrono>
#include <linux/cn_proc.h>
#include <linux/connector.h>
#include <linux/filter.h>
#include <linux/netlink.h>
#include <string>
#include <sys/socket.h>
#include <unistd.h>

#include "base/log.hpp"
#include "base/wire.hpp"

namespace plim::local::kubelet {

namespace {

using namespace std::chrono_literals;

constexpr std::size_t kEventAt = NLMSG_HDRLEN + sizeof(cn_msg);
// The process may still wait for a core before the kernel sends the message.
constexpr int kLooks = 100;
constexpr Nanos kBetweenLooks = 1ms;
// After a drop do not wait: the message may be among the dropped ones.
constexpr Nanos kDroppedLately = 1s;

// Filters out events that decode_process_event() ignores, such as forks and changes of names.
Result<void> attach_filter(int socket) {
  // The filter compares words in network byte order.
  const auto is = [](std::uint32_t what, std::uint8_t to_last) {
    return sock_filter{BPF_JMP | BPF_JEQ | BPF_K, to_last, 0, htonl(what)};
  };
  std::array program{sock_filter{BPF_LD | BPF_W | BPF_ABS, 0, 0, kEventAt},
                     is(proc_event::PROC_EVENT_NONE, 3),
                     is(proc_event::PROC_EVENT_EXEC, 2),
                     is(proc_event::PROC_EVENT_EXIT, 1),
                     sock_filter{BPF_RET | BPF_K, 0, 0, 0},
                     sock_filter{BPF_RET | BPF_K, 0, 0, ~0U}};
  const sock_fprog all{static_cast<unsigned short>(program.size()), program.data()};
  if (::setsockopt(socket, SOL_SOCKET, SO_ATTACH_FILTER, &all, sizeof all) != 0)
    return fail_errno(errno, "cannot filter process events");
  return {};
}

}  // namespace

std::optional<ProcessEvent> decode_process_event(std::string_view message) {
  WireReader in(message);
  in.number<std::uint32_t>();  // its length: the datagram has its own
  const auto type = in.number<std::uint16_t>();
  in.number<std::uint16_t>();  // flags
  in.number<std::uint64_t>();  // number and port
  const auto index = in.number<std::uint32_t>(), value = in.number<std::uint32_t>();
  in.number<std::uint32_t>();  // number
  const auto answers = in.number<std::uint32_t>();
  in.number<std::uint32_t>();  // length and flags
  const auto what = in.number<std::uint32_t>();
  in.number<std::uint32_t>();  // CPU
  const auto when = in.number<std::uint64_t>();
  if (!in.ok() || type != NLMSG_DONE || index != CN_IDX_PROC || value != CN_VAL_PROC)
    return std::nullopt;
  ProcessEvent out{.when = Nanos(static_cast<std::int64_t>(when))};
  const auto first = in.number<std::uint32_t>();  // an error or a thread
  if (what == proc_event::PROC_EVENT_NONE) {
    out.request = answers - 1;
    return in.ok() && first == 0 ? std::optional(out) : std::nullopt;
  }
  out.process = static_cast<pid_t>(in.number<std::uint32_t>());
  if (what == proc_event::PROC_EVENT_EXEC) {
    out.what = ProcessEvent::What::executed;
  } else if (what == proc_event::PROC_EVENT_EXIT) {
    out.what = ProcessEvent::What::ended;
    out.thread = static_cast<pid_t>(first) != out.process;
  } else {
    return std::nullopt;
  }
  return in.ok() ? std::optional(out) : std::nullopt;
}

void ProcessLives::note(const ProcessEvent& event) {
  if (event.thread) {
    // The process lives on while its first thread does.
    const auto found = lives_.find(event.process);
    if (found != lives_.end() && found->second.ended != Nanos(0))
      found->second.ended = std::max(found->second.ended, event.when);
    return;
  }
  const auto [found, is_new] = lives_.try_emplace(event.process);
  Life& life = found->second;
  if (event.what == ProcessEvent::What::ended) {
    life.ended = event.when;
  } else if (life.executed == Nanos(0) || life.ended != Nanos(0)) {
    life = {.executed = event.when};  // a later exec does not count
  }
  if (!is_new) return;
  order_.push_back(event.process);
  if (order_.size() <= kKept) return;
  lives_.erase(order_.front());
  order_.pop_front();
}

std::optional<Nanos> ProcessLives::find(ProcessEvent::What what, pid_t process, Nanos since) const {
  const auto found = lives_.find(process);
  if (found == lives_.end()) return std::nullopt;
  const Nanos when =
      what == ProcessEvent::What::executed ? found->second.executed : found->second.ended;
  return when != Nanos(0) && when >= since ? std::optional(when) : std::nullopt;
}

ProcessEvents::ProcessEvents(const Executor& loop, int buffer) : buffer_(buffer), tasks_(loop) {}

ProcessEvents::~ProcessEvents() = default;

void ProcessEvents::start() {
  if (socket_) return;
  if (auto listening = listen(); !listening) {
    socket_.reset();
    return say_once(listening.error().message);
  }
  tasks_.spawn("process events", keep_reading());
}

Task<void> ProcessEvents::stop() {
  // Without this, kernels before 6.6 keep sending events that no process reads.
  if (socket_) request(PROC_CN_MCAST_IGNORE);
  socket_.reset();
  return tasks_.stop();
}

Result<void> ProcessEvents::listen() {
  socket_.reset(::socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_CONNECTOR));
  if (!socket_) return fail_errno(errno, "cannot listen to process events");
  if (::setsockopt(socket_.get(), SOL_SOCKET, SO_RCVBUFFORCE, &buffer_, sizeof buffer_) != 0)
    ::setsockopt(socket_.get(), SOL_SOCKET, SO_RCVBUF, &buffer_, sizeof buffer_);
  PLIM_CHECK(attach_filter(socket_.get()));
  sockaddr_nl group{};
  group.nl_family = AF_NETLINK;
  group.nl_groups = CN_IDX_PROC;
  if (::bind(socket_.get(), reinterpret_cast<const sockaddr*>(&group), sizeof group) != 0)
    return fail_errno(errno, "cannot listen to process events");
  number_ = static_cast<std::uint32_t>(::getpid());
  request(PROC_CN_MCAST_LISTEN);
  return {};
}

// The kernel's answer shows whether it received the request. The answer may not come.
void ProcessEvents::request(std::uint32_t what) {
  std::string message;
  put_number(message, static_cast<std::uint32_t>(kEventAt + sizeof what));
  put_number(message, static_cast<std::uint16_t>(NLMSG_DONE));
  put_number(message, std::uint16_t{0});
  put_number(message, std::uint64_t{0});  // number and port
  put_number(message, std::uint32_t{CN_IDX_PROC});
  put_number(message, std::uint32_t{CN_VAL_PROC});
  put_number(message, std::uint32_t{0});  // number
  put_number(message, number_);           // the answer has the next number
  put_number(message, static_cast<std::uint16_t>(sizeof what));
  put_number(message, std::uint16_t{0});
  put_number(message, what);
  (void)!::send(socket_.get(), message.data(), message.size(), 0);
}

void ProcessEvents::read_messages() {
  std::array<char, 256> buffer;
  for (;;) {
    sockaddr_nl from{};
    socklen_t size = sizeof from;
    const ssize_t n = ::recvfrom(socket_.get(), buffer.data(), buffer.size(), 0,
                                 reinterpret_cast<sockaddr*>(&from), &size);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno == ENOBUFS) {
      dropped_at_ = system_clock().steady();
      say_once("more process events than we could read");
      continue;
    }
    if (n < 0) return;
    if (from.nl_pid != 0) continue;  // not from the kernel
    const auto event = decode_process_event({buffer.data(), static_cast<std::size_t>(n)});
    if (!event) continue;
    if (event->what == ProcessEvent::What::listening) {
      // Events may also come because other processes listen. In our own PID namespace their pids
      // mislead us, but there the kernel does not answer our request.
      heard_ |= event->request == number_;
      continue;
    }
    lives_.note(*event);
  }
}

Task<std::optional<Nanos>> ProcessEvents::find(ProcessEvent::What what, pid_t process,
                                               Nanos since) {
  for (int look = 0; socket_ && look < kLooks; ++look) {
    read_messages();
    if (!heard_) break;
    if (const auto found = lives_.find(what, process, since)) co_return found;
    if (dropped_at_ && system_clock().steady() - *dropped_at_ < kDroppedLately) break;
    co_await system_clock().sleep(kBetweenLooks);  // the kernel takes real time
  }
  say_once("the kernel did not report a process");
  co_return std::nullopt;
}

Task<std::optional<Nanos>> ProcessEvents::executed(pid_t process, Nanos since) {
  return find(ProcessEvent::What::executed, process, since);
}

Task<std::optional<Nanos>> ProcessEvents::ended(pid_t process, Nanos since) {
  return find(ProcessEvent::What::ended, process, since);
}

Task<void> ProcessEvents::keep_reading() {
  for (;;) {
    co_await system_clock().sleep(1s);
    read_messages();
  }
}

void ProcessEvents::say_once(std::string_view why) {
  if (said_) return;
  said_ = true;
  log::debug("node", "times of runs come from the shims, not from the kernel", {{"why", why}});
}

}  // namespace plim::local::kubelet
