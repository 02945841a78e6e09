// An HTTPS server with one watch: every subscriber gets an event of 1 KB each second. Events have
// numbers, and whoever asks for those after a number gets all of them, also from another server
// that began at the same time: event n is made n seconds after the beginning.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/clock.hpp"
#include "base/loop.hpp"
#include "base/text.hpp"
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
  WatchServer(const Pki& pki, std::string address, std::int64_t beginning)
      : beginning_(beginning), published_(due()) {
    net::ServerOptions options;
    options.address = std::move(address);
    options.tls = net::ServerTls{.certificate_pem = pki.server.certificate_pem,
                                 .key_pem = pki.server.key_pem};
    net::Route route{.method = "GET", .pattern = "/watch"};
    route.handler = [this](net::Request request) { return subscribe(std::move(request)); };
    server_ = net::Server::listen({loop_.executor()}, std::move(options), {route}).value();
  }

  void run(const Child::Ready& ready) {
    ready(server_->port());
    run_to_end(loop_, publish_for_ever());
  }

 private:
  // "after=N": beginning with event N + 1; without it, with the next one.
  Task<net::Reply> subscribe(net::Request request) {
    net::Streamed streamed;
    streamed.headers.add("Content-Type", "application/json");
    const std::string_view after =
        std::string_view(request.query)
            .substr(std::min(request.query.size(), std::string_view("after=").size()));
    const std::int64_t last = parse_int<std::int64_t>(after).value_or(-1);
    streamed.attach = [this, last](std::shared_ptr<net::Sink> sink) {
      std::string missed;
      if (last >= 0)
        for (std::int64_t n = last + 1; n <= published_; ++n) missed += event(n);
      if (!missed.empty() && !sink->push(std::make_shared<const std::string>(std::move(missed))))
        return;
      sinks_.push_back(std::move(sink));
    };
    co_return streamed;
  }

  // Its number, the time it was made, filled up.
  std::string event(std::int64_t number) const {
    return fmt::format("{} {} {}\n", number, beginning_ + number * 1000, std::string(1000, 'x'));
  }

  std::int64_t due() const { return (unix_millis() - beginning_) / 1000; }

  Task<void> publish_for_ever() {
    for (;;) {
      const std::int64_t wait = beginning_ + (published_ + 1) * 1000 - unix_millis();
      co_await system_clock().sleep(std::chrono::milliseconds(std::max<std::int64_t>(wait, 0)));
      while (published_ < due()) {
        auto next = std::make_shared<const std::string>(event(++published_));
        std::erase_if(sinks_, [&](const auto& sink) { return !sink->push(next); });
      }
    }
  }

  Loop loop_;
  std::int64_t beginning_;  // Unix milliseconds
  std::int64_t published_;  // the last event's number
  std::vector<std::shared_ptr<net::Sink>> sinks_;
  std::unique_ptr<net::Server> server_;
};

}  // namespace plim::bench
