#include "webhook/expiry_watch.hpp"

#include <chrono>

namespace plim::webhook {
namespace {

constexpr std::chrono::seconds kExpiryLook{60};  // the clock may be set: sleep no longer

}  // namespace

ExpiryWatch::ExpiryWatch(const Executor& loop, Expires expires, OnExpired on_expired, Clock& clock)
    : expires_(std::move(expires)),
      on_expired_(std::move(on_expired)),
      clock_(clock),
      tasks_(loop) {}

void ExpiryWatch::start() {
  tasks_.spawn("expiry", watch());
}

Task<void> ExpiryWatch::stop() {
  return tasks_.stop();
}

Task<void> ExpiryWatch::watch() {
  WallTime told{};
  for (;;) {
    const WallTime expires = expires_();
    if (clock_.wall() >= expires && expires != told) {
      told = expires;
      on_expired_(expires);
    }
    co_await clock_.sleep(kExpiryLook);
  }
}

}  // namespace plim::webhook
