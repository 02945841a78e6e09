// The delay before the next retry.
#pragma once

#include <chrono>

#include "base/clock.hpp"
#include "base/random.hpp"

namespace plim {

// Exponential with jitter: delays grow by `factor` from `first` up to `limit`, and each is extended
// by a random share of itself, so that many clients do not retry at the same moment. The defaults
// are those of client-go's reflectors. Belongs to one task.
class Backoff {
 public:
  struct Options {
    Nanos first = std::chrono::milliseconds(800);
    Nanos limit = std::chrono::seconds(30);  // before jitter
    double factor = 2.0;
    double jitter = 1.0;  // adds up to this share
  };

  Backoff() : Backoff(Options{}) {}

  explicit Backoff(Options options, Random& random = system_random());

  Nanos next();
  // After a success: the next delay is short again.
  void reset();

 private:
  Options options_;
  Random* random_;
  Nanos base_;
};

}  // namespace plim
