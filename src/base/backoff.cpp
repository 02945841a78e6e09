#include "base/backoff.hpp"

#include <algorithm>

namespace plim {
namespace {

// Computes with doubles, which cannot overflow; at most `limit`.
Nanos scaled(Nanos value, double by, Nanos limit) {
  const double out = static_cast<double>(value.count()) * by;
  if (out >= static_cast<double>(limit.count())) return limit;
  return Nanos(static_cast<Nanos::rep>(out));
}

}  // namespace

Backoff::Backoff(Options options, Random& random)
    : options_(options), random_(&random), base_(std::min(options.first, options.limit)) {}

Nanos Backoff::next() {
  const Nanos base = base_;
  base_ = scaled(base_, options_.factor, options_.limit);
  return base + scaled(base, options_.jitter * random_->unit(), Nanos::max() / 2);
}

void Backoff::reset() {
  base_ = std::min(options_.first, options_.limit);
}

}  // namespace plim
