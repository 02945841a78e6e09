#include "net/listener.hpp"

#include <cerrno>
#include <memory>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <fmt/format.h>

#include "base/text.hpp"

namespace plim::net {
namespace {

constexpr std::string_view kUnixScheme = "unix://";
constexpr int kBacklog =
    4096;  // for bursts of reconnecting watches; the kernel applies its own limit

using AddressList = std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)>;

Result<AddressList> addresses_of(const std::string& host, const std::string& port) {
  addrinfo hints{};
  hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  int error = ::getaddrinfo(host.empty() ? nullptr : host.c_str(), port.c_str(), &hints, &found);
  if (error != 0) return fail(Code::invalid, ::gai_strerror(error));
  return AddressList(found, &::freeaddrinfo);
}

bool somebody_listens(const sockaddr_un& address) {
  int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  int result = ::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address);
  bool listens = result == 0 || errno == EAGAIN;
  ::close(fd);
  return listens;
}

}  // namespace

Result<Listener> Listener::open(const std::string& address, unsigned socket_mode) {
  Listener out;
  auto opened = address.starts_with(kUnixScheme)
                    ? out.listen_unix(address.substr(kUnixScheme.size()), socket_mode)
                    : out.listen_tcp(address);
  if (!opened) return opened.error().with_context("listening on " + address);
  return out;
}

Listener::~Listener() {
  if (fd_ >= 0) ::close(fd_);
  if (!socket_path_.empty()) ::unlink(socket_path_.c_str());
}

Listener::Listener(Listener&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)),
      family_(other.family_),
      address_(std::move(other.address_)),
      port_(other.port_),
      socket_path_(std::exchange(other.socket_path_, {})) {}

Result<void> Listener::listen_tcp(const std::string& address) {
  auto colon = address.rfind(':');
  if (colon == std::string::npos) return fail(Code::invalid, "expected host:port");
  std::string host = address.substr(0, colon);
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  const std::string port = address.substr(colon + 1);
  if (!parse_int<std::uint16_t>(port))  // getaddrinfo() reads 65537 as 1
    return fail(Code::invalid, fmt::format("{} is not a port, expected 0 to 65535", quote(port)));
  PLIM_TRY(AddressList list, addresses_of(host, port));
  // Without a host, listen on every address: if IPv6 exists, its wildcard accepts IPv4 too.
  const addrinfo* chosen = list.get();
  for (const addrinfo* entry = chosen; host.empty() && entry; entry = entry->ai_next)
    if (entry->ai_family == AF_INET6) chosen = entry;
  family_ = chosen->ai_family;
  fd_ = ::socket(family_, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd_ < 0) return fail_errno(errno, "socket");
  int on = 1, off = 0;
  ::setsockopt(fd_, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (host.empty() && family_ == AF_INET6)
    ::setsockopt(fd_, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
  if (::bind(fd_, chosen->ai_addr, chosen->ai_addrlen) != 0) return fail_errno(errno, "bind");
  if (::listen(fd_, kBacklog) != 0) return fail_errno(errno, "listen");
  sockaddr_storage bound{};
  socklen_t size = sizeof bound;
  ::getsockname(fd_, reinterpret_cast<sockaddr*>(&bound), &size);
  port_ = ntohs(family_ == AF_INET6 ? reinterpret_cast<sockaddr_in6&>(bound).sin6_port
                                    : reinterpret_cast<sockaddr_in&>(bound).sin_port);
  address_ = fmt::format("{}:{}", address.substr(0, colon), port_);
  return {};
}

// The file gets its name only when it has its mode and the socket is listening.
Result<void> Listener::listen_unix(const std::string& path, unsigned mode) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::string temporary = path + ".new";
  if (temporary.size() >= sizeof address.sun_path)
    return fail(Code::invalid,
                fmt::format("socket path longer than {} bytes", sizeof address.sun_path - 5));
  path.copy(address.sun_path, path.size());
  if (somebody_listens(address)) return fail_errno(EADDRINUSE, "bind");
  temporary.copy(address.sun_path, temporary.size());
  family_ = AF_UNIX;
  fd_ = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd_ < 0) return fail_errno(errno, "socket");
  ::unlink(temporary.c_str());
  if (::bind(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
    return fail_errno(errno, "bind");
  socket_path_ = temporary;
  if (::chmod(temporary.c_str(), mode) != 0) return fail_errno(errno, "chmod");
  if (::listen(fd_, kBacklog) != 0) return fail_errno(errno, "listen");
  if (::rename(temporary.c_str(), path.c_str()) != 0) return fail_errno(errno, "rename");
  socket_path_ = path;
  address_ = std::string(kUnixScheme) + path;
  return {};
}

}  // namespace plim::net
