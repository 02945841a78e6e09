#include "net/quota.hpp"

#include <netinet/in.h>
#include <sys/socket.h>

namespace plim::net {
namespace {

constexpr std::size_t kNetworkBytes = 8;  // of an IPv6 address: a host owns a whole /64

std::string bytes_of(const void* data, std::size_t size) {
  return {static_cast<const char*>(data), size};
}

}  // namespace

std::string peer_of(int socket) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  if (::getpeername(socket, reinterpret_cast<sockaddr*>(&address), &size) != 0) return "";
  if (address.ss_family == AF_INET) {
    const auto* v4 = reinterpret_cast<const sockaddr_in*>(&address);
    return bytes_of(&v4->sin_addr, sizeof v4->sin_addr);
  }
  if (address.ss_family != AF_INET6) return "";
  const in6_addr& v6 = reinterpret_cast<const sockaddr_in6*>(&address)->sin6_addr;
  if (IN6_IS_ADDR_V4MAPPED(&v6)) return bytes_of(v6.s6_addr + 12, 4);
  return bytes_of(v6.s6_addr, kNetworkBytes);
}

Quota::Part& Quota::Part::operator=(Part&& other) noexcept {
  std::swap(quota_, other.quota_);
  std::swap(peer_, other.peer_);
  std::swap(taken_, other.taken_);
  return *this;
}

Quota::Part::~Part() {
  if (taken_ != 0) quota_->give_back(peer_, taken_);
}

bool Quota::Part::grow(std::size_t amount) {
  if (quota_ == nullptr || !quota_->has_limits()) return true;
  if (!quota_->take(peer_, amount)) return false;
  taken_ += amount;
  return true;
}

bool Quota::take(const std::string& peer, std::size_t amount) {
  std::lock_guard held(mutex_);
  if (limits_.all != 0 && amount > limits_.all - taken_) return false;
  if (limits_.per_peer != 0 && !peer.empty()) {
    std::size_t& has = by_peer_[peer];
    if (amount > limits_.per_peer - has) {
      if (has == 0) by_peer_.erase(peer);
      return false;
    }
    has += amount;
  }
  taken_ += amount;
  return true;
}

void Quota::give_back(const std::string& peer, std::size_t amount) {
  std::lock_guard held(mutex_);
  taken_ -= amount;
  auto found = by_peer_.find(peer);
  if (found == by_peer_.end()) return;
  found->second -= amount;
  if (found->second == 0) by_peer_.erase(found);
}

}  // namespace plim::net
