#include "net/connect.hpp"

#include <cerrno>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <fmt/format.h>

#include "base/base64.hpp"
#include "net/message_parser.hpp"
#include "net/tls_stream.hpp"

namespace plim::net {
namespace asio = boost::asio;
using asio::ip::tcp;

namespace {

constexpr auto kTuple = asio::as_tuple(asio::use_awaitable);
constexpr std::size_t kMaxProxyHeader = 16 << 10;
constexpr std::chrono::milliseconds kUnixRetry{5};

Error out_of_time() {
  return fail(Code::timeout, "timed out");
}

// A lookup runs in a thread that cannot be interrupted. The waiting coroutine leaves at its
// deadline or when it is cancelled; the last user frees this.
struct Lookup {
  explicit Lookup(const Executor& loop) : resolver(loop), arrived(loop, SteadyTime::max()) {}

  tcp::resolver resolver;
  asio::steady_timer arrived;  // never expires; cancelled when the answer is there
  boost::system::error_code error = asio::error::timed_out;
  std::vector<tcp::endpoint> endpoints;
};

Task<Result<std::vector<tcp::endpoint>>> look_up(std::shared_ptr<Watchdog> watchdog,
                                                 std::string host, std::uint16_t port,
                                                 SteadyTime until) {
  boost::system::error_code not_an_address;
  auto address = asio::ip::make_address(host, not_an_address);
  if (!not_an_address) co_return std::vector<tcp::endpoint>{{address, port}};
  Executor loop = co_await asio::this_coro::executor;
  auto lookup = std::make_shared<Lookup>(loop);
  auto give_up = [lookup] { lookup->arrived.cancel(); };
  Alarm alarm(std::move(watchdog), give_up);
  alarm.arm_at(until);
  lookup->resolver.async_resolve(
      host, std::to_string(port), tcp::resolver::numeric_service,
      [lookup](const boost::system::error_code& error, const tcp::resolver::results_type& found) {
        lookup->error = error;
        for (const auto& entry : found) lookup->endpoints.push_back(entry.endpoint());
        lookup->arrived.cancel();
      });
  co_await lookup->arrived.async_wait(kTuple);
  if (lookup->error == asio::error::timed_out) co_return out_of_time().with_context("name lookup");
  if (lookup->error)
    co_return fail(Code::unavailable,
                   fmt::format("no address for {}: {}", host, lookup->error.message()));
  co_return std::move(lookup->endpoints);
}

Error connect_error(int error) {
  Error out = fail_errno(error, "connect");
  out.code = Code::unavailable;
  return out;
}

// After one wait for a socket to become writable, the reactor keeps asking for that, and every
// message of a watch would wake us twice. Registering the socket again makes it wait only for
// input.
Result<Socket> registered_anew(Socket socket, int family) {
  boost::system::error_code error;
  const int fd = socket.release(error);
  if (error) return connect_error(error.value());
  Socket out(socket.get_executor());
  out.assign(asio::generic::stream_protocol(family, IPPROTO_TCP), fd, error);
  if (!error) return out;
  ::close(fd);
  return connect_error(error.value());
}

Task<Result<Socket>> connect_address(std::shared_ptr<Watchdog> watchdog, tcp::endpoint endpoint,
                                     SteadyTime until) {
  Executor loop = co_await asio::this_coro::executor;
  Socket socket(loop);
  boost::system::error_code error;
  socket.open(asio::generic::stream_protocol(endpoint.protocol()), error);
  if (!error) socket.native_non_blocking(true, error);
  if (error) co_return connect_error(error.value());
  int result =
      ::connect(socket.native_handle(), endpoint.data(), static_cast<socklen_t>(endpoint.size()));
  if (result != 0 && errno != EINPROGRESS) co_return connect_error(errno);
  bool expired = false;
  auto give_up = [&] {
    expired = true;
    boost::system::error_code ignored;
    socket.cancel(ignored);
  };
  Alarm alarm(watchdog, give_up);
  alarm.arm_at(until);
  auto [waited] = co_await socket.async_wait(Socket::wait_write, kTuple);
  if (expired) co_return out_of_time();
  if (waited) co_return fail(Code::cancelled, "cancelled while connecting");
  int failure = 0;
  socklen_t size = sizeof failure;
  ::getsockopt(socket.native_handle(), SOL_SOCKET, SO_ERROR, &failure, &size);
  if (failure != 0) co_return connect_error(failure);
  set_tcp_options(socket);
  co_return registered_anew(std::move(socket), endpoint.protocol().family());
}

// Tries one address after the other. Each gets an equal share of the remaining time, so that a host
// with an unreachable address is reached by the next one.
Task<Result<Socket>> connect_tcp(std::shared_ptr<Watchdog> watchdog, std::string host,
                                 std::uint16_t port, SteadyTime until) {
  PLIM_CO_TRY(std::vector<tcp::endpoint> endpoints, co_await look_up(watchdog, host, port, until));
  Error last = fail(Code::unavailable, "no address");
  for (std::size_t i = 0; i < endpoints.size(); ++i) {
    const SteadyTime now = watchdog->now();
    if (now >= until) co_return out_of_time();
    auto share = (until - now) / static_cast<long>(endpoints.size() - i);
    Result<Socket> made = co_await connect_address(watchdog, endpoints[i], now + share);
    if (made || made.error().code == Code::cancelled) co_return std::move(made);
    last = made.error();
  }
  co_return last;
}

// Calls connect() directly: if the backlog is full it returns EAGAIN, which Asio 1.26 treats as
// success.
Task<Result<Socket>> connect_unix(std::shared_ptr<Watchdog> watchdog, std::string path,
                                  SteadyTime until) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path)
    co_return fail(Code::invalid,
                   fmt::format("socket path longer than {} bytes", sizeof address.sun_path - 1));
  path.copy(address.sun_path, path.size());
  Executor loop = co_await asio::this_coro::executor;
  for (;;) {
    Socket socket(loop);
    boost::system::error_code error;
    socket.open(asio::generic::stream_protocol(AF_UNIX, 0), error);
    if (!error) socket.native_non_blocking(true, error);
    if (error) co_return connect_error(error.value());
    if (::connect(socket.native_handle(), reinterpret_cast<const sockaddr*>(&address),
                  sizeof address) == 0)
      co_return std::move(socket);
    if (errno != EAGAIN) co_return connect_error(errno);
    if (watchdog->now() >= until) co_return out_of_time();
    co_await watchdog->clock().sleep(kUnixRetry);
  }
}

Task<Result<void>> ask_proxy(ByteStream& stream, Url proxy, std::string target) {
  std::string request = fmt::format("CONNECT {0} HTTP/1.1\r\nHost: {0}\r\n", target);
  if (auto authorization = proxy_authorization(proxy); !authorization.empty())
    request += fmt::format("Proxy-Authorization: {}\r\n", authorization);
  request += "\r\n";
  PLIM_CO_CHECK(co_await stream.write(request));
  auto parser = ResponseParser::make(kMaxProxyHeader, true);
  InputBuffer in;
  while (!parser->head_done()) {
    PLIM_CO_TRY(bool more, co_await read_more(stream, in));
    if (!more) co_return fail(Code::unavailable, "closed the connection");
    PLIM_CO_CHECK(parser->feed(in));
  }
  int status = parser->head().status;
  if (status / 100 != 2)
    co_return fail(Code::unavailable,
                   fmt::format("refused the connection: {} {}", status, status_text(status)));
  // The origin sends nothing before our handshake, so nothing can follow the response of the proxy.
  if (!in.empty()) co_return fail(Code::unavailable, "sent unexpected bytes");
  co_return Result<void>();
}

Task<Result<std::shared_ptr<ByteStream>>> open_steps(std::shared_ptr<Watchdog> watchdog,
                                                     Destination destination, SteadyTime until) {
  const Url& origin = destination.origin;
  if (origin.scheme == Url::Scheme::unix_socket) {
    PLIM_CO_TRY(Socket local, co_await connect_unix(watchdog, origin.path, until));
    co_return make_plain_stream(std::move(local));
  }
  const Url& first = destination.proxy ? *destination.proxy : origin;
  Result<Socket> connected = co_await connect_tcp(watchdog, first.host, first.port, until);
  if (!connected) {
    if (destination.proxy) co_return connected.error().with_context("proxy " + first.host);
    co_return connected.error();
  }
  auto stream = make_plain_stream(std::move(*connected));
  if (origin.scheme == Url::Scheme::http) co_return stream;

  // The alarm must interrupt the stream that is in use.
  std::shared_ptr<ByteStream> current = stream;
  auto give_up = [&current] { current->interrupt(out_of_time()); };
  Alarm alarm(watchdog, give_up);
  alarm.arm_at(until);
  if (destination.proxy) {
    Result<void> asked = co_await ask_proxy(*stream, *destination.proxy, origin.host_and_port());
    if (!asked) co_return asked.error().with_context("proxy " + first.host);
  }
  auto secure = std::make_shared<TlsStream>(std::move(stream->socket()), destination.tls);
  current = secure;
  PLIM_CO_CHECK(co_await secure->connect(origin.host));
  co_return std::shared_ptr<ByteStream>(std::move(secure));
}

}  // namespace

Task<Result<std::shared_ptr<ByteStream>>> open_connection(std::shared_ptr<Watchdog> watchdog,
                                                          Destination destination,
                                                          std::chrono::milliseconds limit) {
  std::string name = destination.origin.scheme == Url::Scheme::unix_socket
                         ? destination.origin.path
                         : destination.origin.host_and_port();
  SteadyTime until = watchdog->now() + limit;
  auto opened = co_await open_steps(std::move(watchdog), std::move(destination), until);
  if (!opened) co_return opened.error().with_context("connecting to " + name);
  co_return opened;
}

std::string proxy_authorization(const Url& proxy) {
  if (proxy.user.empty() && proxy.password.empty()) return {};
  return "Basic " + base64_encode(proxy.user + ":" + proxy.password);
}

}  // namespace plim::net
