// An HTTPS server with one watch: every subscriber gets an event of 1 KB each second.
#pragma once

#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/clock.hpp"
#include "base/loop.hpp"
#include "child.hpp"
#include "net/server.hpp"

namespace plim::bench {

inline std::int64_t unix_millis() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

class WatchServer {
 public:
  WatchServer(const Pki& pki, std::string address) {
    net::ServerOptions options;
    options.address = std::move(address);
    options.tls = net::ServerTls{.certificate_pem = pki.server.certificate_pem,
                                 .key_pem = pki.server.key_pem};
    net::Route route{.method = "GET", .pattern = "/watch"};
    route.handler = [this](net::Request) { return subscribe(); };
    server_ = net::Server::listen({loop_.executor()}, std::move(options), {route}).value();
  }

  void run(const Child::Ready& ready) {
    ready(server_->port());
    run_to_end(loop_, publish_for_ever());
  }

 private:
  Task<net::Reply> subscribe() {
    net::Streamed streamed;
    streamed.headers.add("Content-Type", "application/json");
    streamed.attach = [this](std::shared_ptr<net::Sink> sink) {
      sinks_.push_back(std::move(sink));
    };
    co_return streamed;
  }

  // Each event is the time it was made, filled up.
  Task<void> publish_for_ever() {
    for (;;) {
      co_await system_clock().sleep(std::chrono::seconds(1));
      auto event = std::make_shared<const std::string>(
          fmt::format("{} {}\n", unix_millis(), std::string(1000, 'x')));
      std::erase_if(sinks_, [&](const auto& sink) { return !sink->push(event); });
    }
  }

  Loop loop_;
  std::vector<std::shared_ptr<net::Sink>> sinks_;
  std::unique_ptr<net::Server> server_;
};

}  // namespace plim::bench
