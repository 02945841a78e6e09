#include "kube/rate_limiter.hpp"

#include <algorithm>
#include <cmath>

namespace plim::kube {

RateLimiter::RateLimiter(Clock& clock, double qps, int burst)
    : clock_(clock),
      per_nano_(qps / 1e9),
      burst_(std::max(burst, 1)),
      tokens_(burst_),
      refilled_(clock.steady()) {}

void RateLimiter::refill() {
  const SteadyTime now = clock_.steady();
  const auto passed = static_cast<double>(Nanos(now - refilled_).count());
  tokens_ = std::min(burst_, tokens_ + passed * per_nano_);
  refilled_ = now;
}

Task<Nanos> RateLimiter::acquire() {
  struct Turn {
    ~Turn() {
      if (!used) limiter.tokens_ += 1;
    }

    RateLimiter& limiter;
    bool used = false;
  };

  if (per_nano_ <= 0) co_return Nanos(0);
  refill();
  tokens_ -= 1;
  if (tokens_ >= 0) co_return Nanos(0);
  const Nanos wait(static_cast<std::int64_t>(std::ceil(-tokens_ / per_nano_)));
  ++delayed_;
  waited_ += wait;
  Turn turn{*this};
  co_await clock_.sleep(wait);
  turn.used = true;
  co_return wait;
}

}  // namespace plim::kube
