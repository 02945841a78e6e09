// An API server with scripted answers that records the requests.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/clock.hpp"
#include "base/loop.hpp"
#include "kube/client.hpp"
#include "net/server.hpp"

namespace plim::testing {

// Gives the answers in order, then 500. Belongs to one loop.
class ScriptedServer {
 public:
  explicit ScriptedServer(const Loop& loop, std::optional<net::ServerTls> tls = {}) {
    net::ServerOptions options;
    options.tls = std::move(tls);
    scheme_ = options.tls ? "https" : "http";
    net::Route route{.method = "*", .pattern = "*"};
    route.handler = [this](net::Request request) { return handle(std::move(request)); };
    auto server = net::Server::listen({loop.executor()}, std::move(options), {std::move(route)});
    PLIM_ASSERT(server);
    server_ = std::move(*server);
  }

  std::string url() const { return scheme_ + "://" + server_->address(); }

  kube::Config config() const {
    kube::Config out;
    out.server = url();
    return out;
  }

  void answer(int status, std::string body, net::Headers headers = {}) {
    headers.set("Content-Type", "application/json");
    script_.push_back(net::Response{status, std::move(headers), std::move(body)});
  }

  // A chunked answer of these pieces, then the regular end.
  void stream(std::vector<std::string> pieces) {
    net::Streamed streamed;
    streamed.attach = [pieces = std::move(pieces)](std::shared_ptr<net::Sink> sink) {
      for (const std::string& piece : pieces) sink->push(std::make_shared<std::string>(piece));
      sink->finish();
    };
    script_.push_back(std::move(streamed));
  }

  const std::vector<net::Request>& requests() const { return requests_; }

  const net::Request& last() const { return requests_.back(); }

  std::size_t left() const { return script_.size(); }

  Task<void> stop() { return server_->drain(net::Millis(0)); }

 private:
  Task<net::Reply> handle(net::Request request) {
    requests_.push_back(std::move(request));
    if (script_.empty()) co_return net::Response{500, {}, "the script has ended"};
    net::Reply out = std::move(script_.front());
    script_.pop_front();
    co_return out;
  }

  std::string scheme_;
  std::deque<net::Reply> script_;
  std::vector<net::Request> requests_;
  std::unique_ptr<net::Server> server_;
};

inline Task<void> let_time_fly(FakeClock& clock) {
  for (;;) {
    clock.advance_to_next();
    co_await yield_to_loop();
  }
}

// Runs `task`. Sleeps on `clock` end at once.
template <class T>
T run_without_waiting(Loop& loop, FakeClock& clock, Task<T> task) {
  TaskGroup time(loop.executor());
  time.spawn("time", let_time_fly(clock));
  T out = run_to_end(loop, std::move(task));
  run_to_end(loop, time.stop());
  return out;
}

}  // namespace plim::testing
