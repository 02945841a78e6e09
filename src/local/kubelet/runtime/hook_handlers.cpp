#include "local/kubelet/runtime/hook_handlers.hpp"

#include <arpa/inet.h>
#include <cerrno>
#include <cstring>
#include <netinet/in.h>
#include <string_view>
#include <sys/socket.h>
#include <utility>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <fmt/format.h>

#include "base/event.hpp"
#include "base/fd.hpp"
#include "base/text.hpp"
#include "kube/paths.hpp"
#include "kube/reference_version.hpp"
#include "net/client.hpp"

namespace plim::local::kubelet {
namespace asio = boost::asio;

namespace {

HandlerOutcome failure(std::string text) {
  return {.success = false, .output = std::move(text)};
}

// `action` is an HTTPGetAction or a TCPSocketAction; a GRPCAction has no host.
std::string_view host_of(const json::value& action, const HandlerTarget& target) {
  const std::string_view given = kube::text_at(action, "TCPSocketAction.host");
  return given.empty() ? std::string_view(target.pod_ip) : given;
}

Task<HandlerOutcome> run_exec(json::value action, HandlerTarget target,
                              std::chrono::milliseconds timeout) {
  auto words = kube::texts_at(action, "ExecAction.command");
  const std::string shown = words.empty() ? "" : words.front();
  auto done = co_await target.shim->exec(target.id, std::move(words), timeout);
  if (!done) co_return failure(done.error().message);
  if (done->timed_out)
    co_return failure(fmt::format("command timed out: \"{}\" timed out after {}s", shown,
                                  timeout.count() / 1000));
  co_return HandlerOutcome{done->exit_code == 0, std::move(done->output)};
}

Task<HandlerOutcome> run_http(json::value action, HandlerTarget target,
                              std::chrono::milliseconds timeout) {
  const int port = resolve_port(target.container, kube::find(action, "HTTPGetAction.port"));
  const bool tls = kube::text_at(action, "HTTPGetAction.scheme") == "HTTPS";
  const std::string base =
      fmt::format("{}://{}:{}", tls ? "https" : "http", host_of(action, target), port);
  net::ClientOptions options;
  options.tls.insecure = true;  // like a kubelet: pods use self-signed certificates
  options.user_agent =
      fmt::format("kube-probe/{}.{}", kube::kReferenceMajor, kube::kReferenceMinor);
  options.connect_timeout = timeout;
  const Executor loop = co_await current_loop();
  auto client = net::Client::create(loop, base, std::move(options));
  if (!client) co_return failure(client.error().message);
  net::Request request;
  std::string_view path = kube::text_at(action, "HTTPGetAction.path");
  const auto [before, query] = cut(path, '?');
  request.path = before.starts_with('/') ? std::string(before) : fmt::format("/{}", before);
  request.query = query;
  for (const json::value& header : kube::list_at(action, "HTTPGetAction.httpHeaders"))
    request.headers.set(std::string(kube::text_at(header, "HTTPHeader.name")),
                        std::string(kube::text_at(header, "HTTPHeader.value")));
  if (!request.headers.has("Accept")) request.headers.set("Accept", "*/*");
  net::CallOptions limits;
  limits.timeout = timeout;
  limits.max_body = 1 << 20;
  auto response = co_await (*client)->send(std::move(request), limits);
  if (!response)
    co_return failure(fmt::format("Get \"{}{}\": {}", base, path, response.error().message));
  if (response->status >= 200 && response->status < 400)
    co_return HandlerOutcome{true, std::move(response->body)};
  co_return failure(fmt::format("HTTP probe failed with statuscode: {}", response->status));
}

Task<HandlerOutcome> run_tcp(json::value action, HandlerTarget target,
                             std::chrono::milliseconds timeout) {
  const int port = resolve_port(target.container, kube::find(action, "TCPSocketAction.port"));
  const std::string host(host_of(action, target));
  const auto refused = [&](int error) {
    return failure(fmt::format("dial tcp {}:{}: connect: {}", host, port, std::strerror(error)));
  };
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  if (::inet_pton(AF_INET, host.c_str(), &address.sin_addr) != 1)
    co_return failure(fmt::format("dial tcp {}: not an IPv4 address", host));
  Fd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd) co_return refused(errno);
  if (::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0)
    co_return HandlerOutcome{true, ""};
  if (errno != EINPROGRESS) co_return refused(errno);
  const Executor loop = co_await current_loop();

  // A timer that has expired calls back even if it is cancelled then, maybe after this function.
  struct Attempt {
    asio::posix::stream_descriptor socket;
    bool late = false;
  };

  auto attempt = std::make_shared<Attempt>(asio::posix::stream_descriptor(loop, fd.release()));
  asio::posix::stream_descriptor& socket = attempt->socket;
  asio::steady_timer limit(loop, timeout);
  limit.async_wait([attempt](const boost::system::error_code& error) {
    if (error) return;
    attempt->late = true;
    attempt->socket.cancel();
  });
  co_await socket.async_wait(socket.wait_write, asio::as_tuple(asio::use_awaitable));
  limit.cancel();
  co_await unwind_if_cancelled();
  int error = 0;
  socklen_t size = sizeof error;
  ::getsockopt(socket.native_handle(), SOL_SOCKET, SO_ERROR, &error, &size);
  if (attempt->late) error = ETIMEDOUT;
  if (error != 0) co_return refused(error);
  co_return HandlerOutcome{true, ""};
}

}  // namespace

int resolve_port(const json::value& container, const json::value* port) {
  if (port == nullptr) return 0;
  if (port->is_int64()) return static_cast<int>(port->as_int64());
  if (!port->is_string()) return 0;
  const std::string_view text = port->as_string();
  if (auto number = parse_int(text)) return *number;
  for (const json::value& named : kube::list_at(container, "Container.ports"))
    if (kube::text_at(named, "ContainerPort.name") == text)
      return static_cast<int>(kube::int_at(named, "ContainerPort.containerPort").value_or(0));
  return 0;
}

Task<HandlerOutcome> run_handler(json::value handler, HandlerTarget target,
                                 std::chrono::milliseconds timeout) {
  if (const json::value* action = kube::find(handler, "Probe.exec"))
    co_return co_await run_exec(*action, std::move(target), timeout);
  if (const json::value* action = kube::find(handler, "Probe.httpGet"))
    co_return co_await run_http(*action, std::move(target), timeout);
  const json::value* connection = kube::find(handler, "Probe.tcpSocket");
  if (connection == nullptr) connection = kube::find(handler, "Probe.grpc");
  if (connection != nullptr) co_return co_await run_tcp(*connection, std::move(target), timeout);
  if (const auto seconds = kube::int_at(handler, "LifecycleHandler.sleep.seconds")) {
    const Nanos wait = std::chrono::seconds(*seconds);
    co_await target.clock->sleep(std::min<Nanos>(wait, timeout));
    co_return HandlerOutcome{true, ""};
  }
  co_return failure("missing probe handler");
}

}  // namespace plim::local::kubelet
