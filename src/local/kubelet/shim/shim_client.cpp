#include "local/kubelet/shim/shim_client.hpp"

#include <cerrno>
#include <fcntl.h>
#include <string_view>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include <utility>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <fmt/format.h>

#include "base/event.hpp"
#include "base/files.hpp"
#include "base/subprocess.hpp"
#include "base/text.hpp"

namespace plim::local::kubelet {
namespace asio = boost::asio;

namespace {

// One connection that sends and receives lines.
class LineSocket {
 public:
  LineSocket(const Executor& loop, Fd fd) : socket_(loop, fd.release()) {}

  Task<Result<void>> write_line(std::string text) {
    text += '\n';
    std::string_view rest = text;
    while (!rest.empty()) {
      const ssize_t n =
          ::send(socket_.native_handle(), rest.data(), rest.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
      if (n > 0) {
        rest.remove_prefix(static_cast<std::size_t>(n));
      } else if (n < 0 && errno == EAGAIN) {
        co_await socket_.async_wait(socket_.wait_write, asio::as_tuple(asio::use_awaitable));
        co_await unwind_if_cancelled();
      } else if (n < 0 && errno != EINTR) {
        co_return fail_errno(errno, "cannot write to the shim");
      }
    }
    co_return Result<void>();
  }

  Task<Result<std::string>> read_line() {
    char buffer[4096];
    for (;;) {
      if (const auto end = received_.find('\n'); end != std::string::npos) {
        std::string out = received_.substr(0, end);
        received_.erase(0, end + 1);
        co_return out;
      }
      const ssize_t n = ::recv(socket_.native_handle(), buffer, sizeof buffer, MSG_DONTWAIT);
      if (n > 0) {
        received_.append(buffer, static_cast<std::size_t>(n));
      } else if (n < 0 && errno == EAGAIN) {
        co_await socket_.async_wait(socket_.wait_read, asio::as_tuple(asio::use_awaitable));
        co_await unwind_if_cancelled();
      } else if (n == 0 || errno != EINTR) {
        co_return fail(Code::unavailable, "the pod's shim is gone");
      }
    }
  }

 private:
  asio::posix::stream_descriptor socket_;
  std::string received_;
};

// Goes through the directory's descriptor, because the path may be too long for a socket address.
Result<Fd> connect_to(const std::string& directory) {
  Fd where(::open(directory.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!where) return fail_errno(errno, fmt::format("cannot open {}", directory));
  Fd out(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!out) return fail_errno(errno, "cannot create a socket");
  const std::string path = fmt::format("/proc/self/fd/{}/{}", where.get(), kShimSocket);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  if (::connect(out.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
    return fail(Code::unavailable,
                fmt::format("no shim in {}: {}", directory, fail_errno(errno, "connect").message));
  return out;
}

Result<json::value> parse_reply(std::string_view line) {
  PLIM_TRY(json::value reply, parse_json(line, "the shim's answer"));
  if (const std::string_view error = text_at(reply, {"error"}); !error.empty())
    return fail(code_from_reason(text_at(reply, {"code"}), 500), std::string(error));
  return reply;
}

class SocketWatch final : public ShimWatch {
 public:
  explicit SocketWatch(std::unique_ptr<LineSocket> socket) : socket_(std::move(socket)) {}

  Task<Result<ShimState>> next() override {
    PLIM_CO_TRY(const std::string line, co_await socket_->read_line());
    PLIM_CO_TRY(const json::value value, parse_reply(line));
    auto state = decode_shim_state(value);
    if (state && state->protocol > kShimProtocol)
      co_return fail(Code::unimplemented,
                     fmt::format("a later version of plimsoll started the pod's shim: it has "
                                 "protocol {}, this program knows {}",
                                 state->protocol, kShimProtocol));
    co_return state;
  }

 private:
  std::unique_ptr<LineSocket> socket_;
};

class SocketTicks final : public ShimTicks {
 public:
  explicit SocketTicks(std::unique_ptr<LineSocket> socket) : socket_(std::move(socket)) {}

  Task<Result<bool>> next() override {
    PLIM_CO_TRY(const std::string line, co_await socket_->read_line());
    PLIM_CO_TRY(const json::value value, parse_reply(line));
    co_return !bool_at(value, {"ended"});
  }

 private:
  std::unique_ptr<LineSocket> socket_;
};

Task<Result<std::unique_ptr<LineSocket>>> open_socket(std::string directory) {
  const Executor loop = co_await current_loop();
  PLIM_CO_TRY(Fd fd, connect_to(directory));
  co_return std::make_unique<LineSocket>(loop, std::move(fd));
}

}  // namespace

ShimClient::ShimClient(std::string directory, std::vector<std::string> command)
    : directory_(std::move(directory)), command_(std::move(command)) {}

Task<Result<void>> ShimClient::launch() {
  constexpr int kRunsAlready = 3;
  Command command{.argv = command_};
  command.argv.push_back(directory_);
  PLIM_CO_TRY(const Finished finished, co_await run(std::move(command)));
  if (finished.exit.ok() || finished.exit.code == kRunsAlready) co_return Result<void>();
  co_return fail(Code::unavailable, fmt::format("cannot start the pod's shim: {}: {}",
                                                finished.exit.describe(), trim(finished.err.text)));
}

Task<Result<json::value>> ShimClient::ask(json::value request) {
  PLIM_CO_TRY(const auto socket, co_await open_socket(directory_));
  PLIM_CO_CHECK(co_await socket->write_line(to_json(request)));
  PLIM_CO_TRY(const std::string line, co_await socket->read_line());
  co_return parse_reply(line);
}

Task<Result<std::unique_ptr<ShimWatch>>> ShimClient::watch() {
  PLIM_CO_TRY(auto socket, co_await open_socket(directory_));
  PLIM_CO_CHECK(co_await socket->write_line(R"({"do":"watch"})"));
  std::unique_ptr<ShimWatch> out = std::make_unique<SocketWatch>(std::move(socket));
  co_return out;
}

Task<Result<std::unique_ptr<ShimTicks>>> ShimClient::follow(std::string id) {
  PLIM_CO_TRY(auto socket, co_await open_socket(directory_));
  const json::object request{{"do", "follow"}, {"id", id}};
  PLIM_CO_CHECK(co_await socket->write_line(to_json(request)));
  std::unique_ptr<ShimTicks> out = std::make_unique<SocketTicks>(std::move(socket));
  co_return out;
}

Task<Result<ShimRun>> ShimClient::start(StartSpec spec) {
  json::object request{{"do", "start"}, {"container", encode(spec)}};
  PLIM_CO_TRY(json::value reply, co_await ask(std::move(request)));
  const json::value* run = find(reply, {"run"});
  json::array runs;
  if (run != nullptr) runs.push_back(*run);
  const json::value wrapped = json::object{{"runs", std::move(runs)}};
  PLIM_CO_TRY(ShimState state, decode_shim_state(wrapped));
  if (state.runs.empty()) co_return fail(Code::internal, "the shim's answer has no run");
  co_return std::move(state.runs.front());
}

Task<Result<ExecOutcome>> ShimClient::exec(std::string id, std::vector<std::string> argv,
                                           std::chrono::milliseconds timeout) {
  json::array words;
  for (const std::string& word : argv) words.emplace_back(word);
  json::object request{
      {"do", "exec"}, {"id", id}, {"argv", std::move(words)}, {"timeoutMs", timeout.count()}};
  PLIM_CO_TRY(const json::value reply, co_await ask(std::move(request)));
  ExecOutcome out;
  out.exit_code = static_cast<int>(int_at(reply, {"exitCode"}).value_or(0));
  out.timed_out = bool_at(reply, {"timedOut"});
  out.output = text_at(reply, {"output"});
  co_return out;
}

Task<Result<void>> ShimClient::signal(std::string id, int number) {
  json::object request{{"do", "signal"}, {"id", id}, {"signal", number}};
  PLIM_CO_CHECK(co_await ask(std::move(request)));
  co_return Result<void>();
}

Task<Result<void>> ShimClient::kill(std::string id) {
  json::object request{{"do", "kill"}, {"id", id}};
  PLIM_CO_CHECK(co_await ask(std::move(request)));
  co_return Result<void>();
}

Task<Result<void>> ShimClient::quit() {
  json::object request{{"do", "quit"}};
  auto reply = co_await ask(std::move(request));
  const Code code = reply ? Code::unavailable : reply.error().code;
  if (code == Code::unavailable || code == Code::not_found) co_return Result<void>();
  co_return reply.error();
}

Result<ShimState> read_shim_state(const std::string& directory) {
  PLIM_TRY(const std::string text, read_file(fmt::format("{}/{}", directory, kShimState)));
  PLIM_TRY(const json::value value, parse_json(text, directory));
  return decode_shim_state(value);
}

}  // namespace plim::local::kubelet
