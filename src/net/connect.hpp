// Opens connections: name lookup, proxy, TLS. For .cpp files of this folder only.
#pragma once

#include <chrono>
#include <memory>
#include <optional>

#include "net/byte_stream.hpp"
#include "net/tls_context.hpp"
#include "net/url.hpp"
#include "net/watchdog.hpp"

namespace plim::net {

// The target of a connection, and the proxy to it.
struct Destination {
  Url origin;
  std::optional<Url> proxy = {};
  std::shared_ptr<const TlsContext> tls = {};  // for https origins
};

// Opens a stream that speaks HTTP with the origin (or with the proxy, for http origins that use
// one). `limit` is for all steps together.
Task<Result<std::shared_ptr<ByteStream>>> open_connection(std::shared_ptr<Watchdog> watchdog,
                                                          Destination destination,
                                                          std::chrono::milliseconds limit);

std::string proxy_authorization(const Url& proxy);  // "Basic …", or "" without a user

}  // namespace plim::net
