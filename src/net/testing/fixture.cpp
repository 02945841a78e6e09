#include "net/testing/fixture.hpp"

#include <arpa/inet.h>
#include <cstdio>
#include <fstream>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <gtest/gtest.h>

namespace plim::net::testing {
namespace {

sockaddr_in loopback(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

void limit_reads(int fd) {
  timeval limit{.tv_sec = 5, .tv_usec = 0};
  ::setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
}

}  // namespace

TestServer::TestServer(std::vector<Route> routes, ServerOptions options, unsigned loops)
    : tls_(options.tls.has_value()), pool_(loops) {
  auto made = Server::listen(pool_.executors(), std::move(options), std::move(routes));
  if (!made) {
    ADD_FAILURE() << made.error().message;
    std::abort();
  }
  server_ = std::move(*made);
}

std::string TestServer::url() const {
  std::string address = server_->address();
  return address.starts_with("unix:") ? address : (tls_ ? "https://" : "http://") + address;
}

Route get(std::string pattern, Handler handler) {
  return {.method = "GET", .pattern = std::move(pattern), .handler = std::move(handler)};
}

Route post(std::string pattern, Handler handler) {
  return {.method = "POST", .pattern = std::move(pattern), .handler = std::move(handler)};
}

Response text(std::string body, int status) {
  return {.status = status, .headers = {{"Content-Type", "text/plain"}}, .body = std::move(body)};
}

TestClient::TestClient(std::string base, ClientOptions options) {
  auto made = Client::create(loop.executor(), std::move(base), std::move(options));
  if (!made) {
    ADD_FAILURE() << made.error().message;
    std::abort();
  }
  client = std::move(*made);
}

Result<Response> TestClient::send(Request request, CallOptions options) {
  return run_to_end(loop, client->send(std::move(request), options));
}

Result<Response> TestClient::get(std::string path) {
  return send(Request{.path = std::move(path)});
}

Result<Response> TestClient::post(std::string path, std::string body) {
  return send(Request{.method = "POST", .path = std::move(path), .body = std::move(body)});
}

WallTime days_from_now(int days) {
  return std::chrono::system_clock::now() + std::chrono::hours(24 * days);
}

KeyPair Certificates::issue(const KeyPair& authority, CertificateRequest request) {
  if (request.not_after == WallTime{}) {
    request.not_before = days_from_now(-1);
    request.not_after = days_from_now(10);
  }
  return issue_certificate(authority, request).value();
}

const Certificates& Certificates::get() {
  static const Certificates made = [] {
    Certificates out;
    out.authority = make_authority("test authority", days_from_now(-1), days_from_now(10)).value();
    out.server = issue(out.authority, {.common_name = "server",
                                       .dns_names = {"localhost", "api.example"},
                                       .ip_addresses = {"127.0.0.1", "::1"},
                                       .server = true});
    out.client = issue(
        out.authority,
        {.common_name = "alice", .organizations = {"admins", "system:masters"}, .client = true});
    return out;
  }();
  return made;
}

ServerTls Certificates::server_tls() const {
  return {.certificate_pem = server.certificate_pem, .key_pem = server.key_pem};
}

ClientTls Certificates::client_tls() const {
  return {.ca_pem = authority.certificate_pem};
}

RawSocket::RawSocket(std::uint16_t port) : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  sockaddr_in address = loopback(port);
  EXPECT_EQ(::connect(fd_, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  limit_reads(fd_);
}

RawSocket::~RawSocket() {
  ::close(fd_);
}

void RawSocket::send(std::string_view bytes) {
  while (!bytes.empty()) {
    ssize_t n = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (n <= 0) return;
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
}

void RawSocket::end() {
  ::shutdown(fd_, SHUT_WR);
}

std::string RawSocket::read_some() {
  if (!received_.empty()) return std::exchange(received_, {});
  std::string out(64 << 10, '\0');
  ssize_t n = ::recv(fd_, out.data(), out.size(), 0);
  out.resize(n > 0 ? static_cast<std::size_t>(n) : 0);
  return out;
}

std::string RawSocket::read_until(std::string_view end) {
  std::string out;
  for (std::size_t searched = 0;;) {
    std::string more = read_some();
    out += more;
    auto found = out.find(end, searched);
    if (found == out.npos && !more.empty()) {
      searched = out.size() - std::min(out.size(), end.size());
      continue;
    }
    if (found != out.npos) {
      received_ = out.substr(found + end.size());
      out.resize(found + end.size());
    }
    return out;
  }
}

std::string RawSocket::read_all() {
  std::string out;
  for (std::string more; !(more = read_some()).empty();) out += more;
  return out;
}

ScriptedServer::ScriptedServer(std::function<void(RawSocket&, int)> serve)
    : listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  sockaddr_in address = loopback(0);
  socklen_t size = sizeof address;
  EXPECT_EQ(::bind(listener_, reinterpret_cast<sockaddr*>(&address), size), 0);
  EXPECT_EQ(::listen(listener_, 16), 0);
  ::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size);
  port_ = ntohs(address.sin_port);
  thread_ = std::thread([this, serve = std::move(serve)] {
    for (int number = 0;; ++number) {
      int fd = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
      if (fd < 0) return;
      limit_reads(fd);
      RawSocket socket(fd);
      serve(socket, number);
    }
  });
}

ScriptedServer::~ScriptedServer() {
  ::shutdown(listener_, SHUT_RDWR);
  thread_.join();
  ::close(listener_);
}

std::string ScriptedServer::url() const {
  return "http://127.0.0.1:" + std::to_string(port_);
}

std::string run_command(const std::string& command) {
  std::FILE* pipe = ::popen((command + " 2>&1").c_str(), "r");
  std::string out;
  char buffer[4096];
  for (std::size_t n; (n = std::fread(buffer, 1, sizeof buffer, pipe)) > 0;) out.append(buffer, n);
  ::pclose(pipe);
  return out;
}

std::string TempDir::write(const std::string& name, std::string_view content) const {
  std::ofstream(path(name)) << content;
  return path(name);
}

}  // namespace plim::net::testing
