// An amount that the clients of a server share. For .cpp files of net only.
#pragma once

#include <cstddef>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>

namespace plim::net {

// The clients that count as one: an IPv4 address, or a /64 network of IPv6. "" for a unix socket,
// whose mode limits who connects.
std::string peer_of(int socket);

// Connections, or the bytes of bodies. One peer gets only a part of them, so that it cannot take
// all from the others. Can be used by several threads, and outlives its parts.
class Quota {
 public:
  struct Limits {
    std::size_t all = 0, per_peer = 0;  // 0: no limit
  };

  explicit Quota(Limits limits) : limits_(limits) {}

  // What one connection or request has; gives it back at its end.
  class Part {
   public:
    Part() = default;

    Part(Quota& quota, std::string peer) : quota_(&quota), peer_(std::move(peer)) {}

    Part(Part&& other) noexcept { *this = std::move(other); }

    Part& operator=(Part&& other) noexcept;
    ~Part();

    // False: a limit is reached, and the part stays as it was.
    bool grow(std::size_t amount);

    const std::string& peer() const { return peer_; }

   private:
    Quota* quota_ = nullptr;
    std::string peer_;
    std::size_t taken_ = 0;
  };

 private:
  bool take(const std::string& peer, std::size_t amount);
  void give_back(const std::string& peer, std::size_t amount);

  bool has_limits() const { return limits_.all != 0 || limits_.per_peer != 0; }

  const Limits limits_;
  std::mutex mutex_;
  std::size_t taken_ = 0;                                 // guarded by mutex_
  std::unordered_map<std::string, std::size_t> by_peer_;  // guarded by mutex_
};

}  // namespace plim::net
