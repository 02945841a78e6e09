// Thousands of watches on one loop that open again when they break, from where they were.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/loop.hpp"
#include "net/client.hpp"
#include "watch_server.hpp"

namespace plim::bench {

class WatchClients {
 public:
  WatchClients(Executor loop, const Pki& pki, std::uint16_t port, std::size_t count)
      : group_(loop), watches_(count) {
    net::ClientOptions options;
    options.tls.ca_pem = pki.authority.certificate_pem;
    client_ = net::Client::create(loop, fmt::format("https://127.0.0.1:{}", port), options).value();
    for (std::size_t i = 0; i < count; ++i) group_.spawn("watch", keep_watching(i));
  }

  // Waits until every watch has had an event made at or after `since`.
  Task<bool> all_have_event_since(std::int64_t since, std::chrono::seconds limit) {
    auto until = system_clock().steady() + limit;
    while (!all([&](const Watch& watch) { return watch.last_event >= since; })) {
      if (system_clock().steady() > until) co_return false;
      co_await system_clock().sleep(std::chrono::milliseconds(20));
    }
    co_return true;
  }

  // Waits until every watch has noticed a break at or after `since`; the last one's time.
  Task<std::optional<std::int64_t>> all_broken_since(std::int64_t since,
                                                     std::chrono::seconds limit) {
    auto until = system_clock().steady() + limit;
    while (!all([&](const Watch& watch) { return watch.broken_at >= since; })) {
      if (system_clock().steady() > until) co_return std::nullopt;
      co_await system_clock().sleep(std::chrono::milliseconds(20));
    }
    std::int64_t last = 0;
    for (const Watch& watch : watches_) last = std::max(last, watch.broken_at);
    co_return last;
  }

  Task<void> stop() { co_await group_.stop(); }

  std::int64_t worst_lag() const { return worst_lag_; }

  void forget_lag() { worst_lag_ = 0; }

  std::size_t breaks() const { return breaks_; }

  // Events that did not follow the one before them: some are missing, or came twice.
  std::size_t gaps() const { return gaps_; }

 private:
  struct Watch {
    std::int64_t last_number = -1;
    std::int64_t last_event = 0;  // when it was made, Unix milliseconds
    std::int64_t broken_at = 0;
  };

  template <class Condition>
  bool all(Condition condition) const {
    return std::all_of(watches_.begin(), watches_.end(), condition);
  }

  Task<void> keep_watching(std::size_t index) {
    // Handshakes are not started all at once: the server would need longer for them than anybody
    // waits.
    co_await system_clock().sleep(std::chrono::milliseconds(index * 2));
    for (;;) {
      net::Request request;
      request.path = "/watch";
      if (watches_[index].last_number >= 0)
        request.query = fmt::format("after={}", watches_[index].last_number);
      auto stream = co_await client_->open(std::move(request));
      if (stream) {
        co_await read_events(watches_[index], **stream);
        watches_[index].broken_at = unix_millis();
        ++breaks_;
      } else if (!failed_before_) {
        failed_before_ = true;
        fmt::print(stderr, "a watch could not be opened: {}\n", stream.error().message);
      }
      co_await system_clock().sleep(std::chrono::milliseconds(500 + index % 1000));
    }
  }

  Task<void> read_events(Watch& watch, net::ResponseStream& stream) {
    std::string partial;
    for (;;) {
      auto piece = co_await stream.next();
      if (!piece || !*piece) co_return;
      partial += **piece;
      for (std::size_t end; (end = partial.find('\n')) != partial.npos; partial.erase(0, end + 1)) {
        std::size_t space = 0;
        const std::int64_t number = std::stoll(partial, &space);
        if (watch.last_number >= 0 && number != watch.last_number + 1) ++gaps_;
        watch.last_number = number;
        watch.last_event = std::stoll(partial.substr(space, 20));
        worst_lag_ = std::max(worst_lag_, unix_millis() - watch.last_event);
      }
      if (partial.empty()) partial = std::string();
    }
  }

  TaskGroup group_;
  std::vector<Watch> watches_;
  std::shared_ptr<net::Client> client_;
  std::int64_t worst_lag_ = 0;
  std::size_t breaks_ = 0;
  std::size_t gaps_ = 0;
  bool failed_before_ = false;
};

}  // namespace plim::bench
