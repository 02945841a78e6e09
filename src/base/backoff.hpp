// How long to wait before the next try.
#pragma once

#include <chrono>

#include "base/clock.hpp"
#include "base/random.hpp"

namespace plim {

// Exponential with jitter: the waits grow by `factor` from `first` up to `limit`, and each is
// stretched by a random share of itself so that many clients do not come back at once. The default
// is what client-go's reflectors do. Belongs to one task.
class Backoff {
 public:
  struct Options {
    Nanos first = std::chrono::milliseconds(800);
    Nanos limit = std::chrono::seconds(30);  // before jitter
    double factor = 2.0;
    double jitter = 1.0;  // up to this share is added
  };

  Backoff() : Backoff(Options{}) {}

  explicit Backoff(Options options, Random& random = system_random());

  Nanos next();
  // After a success: the next wait is short again.
  void reset();

 private:
  Options options_;
  Random* random_;
  Nanos base_;
};

}  // namespace plim
