// State that a server's connections share. For .cpp files of net only.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <unordered_set>

#include "net/quota.hpp"
#include "net/router.hpp"
#include "net/server.hpp"
#include "net/tls_context.hpp"
#include "net/watchdog.hpp"

namespace plim::net {

// Shared by all connections of a server, on all loops.
struct ServerState {
  ServerState(ServerOptions o, std::vector<Route> routes, Clock& time)
      : options(std::move(o)),
        router(std::move(routes)),
        clock(time),
        places({.all = options.max_connections, .per_peer = options.max_connections_per_peer}),
        bodies({.all = options.max_bodies, .per_peer = options.max_bodies / 2}) {}

  const ServerOptions options;
  const Router router;
  Clock& clock;
  Quota places;  // for connections
  Quota bodies;  // bytes of requests
  std::atomic<std::size_t> connections = 0;
  std::atomic<bool> draining = false;

  std::shared_ptr<const TlsContext> tls() const {
    std::lock_guard held(mutex);
    return tls_context;
  }

  void connection_ended();

  mutable std::mutex mutex;
  std::shared_ptr<const TlsContext> tls_context;  // guarded by mutex
  std::function<void()> on_empty;  // guarded by mutex; called under it, must not wait
};

class Connection;

// A server's share of one loop. Belongs to that loop.
struct LoopShare {
  LoopShare(Executor executor, Clock& clock)
      : loop(std::move(executor)), watchdog(std::make_shared<Watchdog>(loop, clock)) {}

  const Executor loop;
  const std::shared_ptr<Watchdog> watchdog;
  std::unordered_set<Connection*> connections;
};

}  // namespace plim::net
