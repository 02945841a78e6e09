// Helpers for the tests of this folder: a server on its own thread, certificates, raw sockets.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/loop.hpp"
#include "base/testing/temp_dir.hpp"
#include "net/client.hpp"
#include "net/server.hpp"
#include "net/x509.hpp"

namespace plim::net::testing {

// Runs on its own thread, so that tests can use blocking sockets.
class TestServer {
 public:
  explicit TestServer(std::vector<Route> routes, ServerOptions options = {}, unsigned loops = 1);

  std::string url() const;

  Server& operator*() { return *server_; }

  Server* operator->() { return server_.get(); }

  std::uint16_t port() const { return server_->port(); }

 private:
  bool tls_;
  LoopPool pool_;
  std::unique_ptr<Server> server_;
};

Route get(std::string pattern, Handler handler);
Route post(std::string pattern, Handler handler);
Response text(std::string body, int status = 200);

// A client on its own loop; send() runs the loop until the response is there.
class TestClient {
 public:
  explicit TestClient(std::string base, ClientOptions options = {});
  Result<Response> send(Request request, CallOptions options = {});
  Result<Response> get(std::string path);
  Result<Response> post(std::string path, std::string body);

  Loop loop;
  std::shared_ptr<Client> client;
};

// One authority with a certificate for 127.0.0.1 and localhost, and one for a client.
struct Certificates {
  KeyPair authority, server, client;
  static const Certificates& get();
  static KeyPair issue(const KeyPair& authority, CertificateRequest request);
  ServerTls server_tls() const;
  ClientTls client_tls() const;
};

WallTime days_from_now(int days);

// A blocking TCP connection to 127.0.0.1; reads give up after five seconds.
class RawSocket {
 public:
  explicit RawSocket(std::uint16_t port);

  explicit RawSocket(int connected_fd) : fd_(connected_fd) {}

  ~RawSocket();
  RawSocket(const RawSocket&) = delete;
  RawSocket& operator=(const RawSocket&) = delete;

  void send(std::string_view bytes);
  void end();               // sends no more bytes
  std::string read_some();  // "" at the end
  std::string read_until(std::string_view end);
  std::string read_all();

 private:
  int fd_;
  std::string received_;  // bytes after what read_until() returned
};

// Accepts one connection after another and passes each to `serve` on a thread.
class ScriptedServer {
 public:
  explicit ScriptedServer(std::function<void(RawSocket&, int)> serve);  // with its number, from 0
  ~ScriptedServer();

  std::uint16_t port() const { return port_; }

  std::string url() const;

 private:
  int listener_;
  std::uint16_t port_;
  std::thread thread_;
};

std::string run_command(const std::string& command);  // its stdout and stderr

class TempDir : public plim::testing::TempDir {
 public:
  std::string write(const std::string& name, std::string_view content) const;  // its path

  std::string path(const std::string& name) const { return *this / name; }
};

}  // namespace plim::net::testing
