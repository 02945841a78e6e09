// Who we are to the API server, kept fresh while the process runs.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/clock.hpp"
#include "base/result.hpp"
#include "base/task.hpp"
#include "kube/config.hpp"

namespace plim::kube {

struct Identity {
  std::string authorization;  // value of the header; "" for none
  // From an exec plugin, in place of the configured ones; may be empty.
  std::string certificate_pem, key_pem;
  std::uint64_t generation = 0;  // changes whenever any of it does
};

// Belongs to one loop.
class Credentials {
 public:
  virtual ~Credentials() = default;
  virtual Task<Result<Identity>> current() = 0;
  // The server answered 401 to these. True: current() may offer others now, so try again.
  virtual bool rejected(std::uint64_t generation) = 0;
};

std::unique_ptr<Credentials> make_credentials(const Executor& loop, const Config& config,
                                              Clock& clock);

}  // namespace plim::kube
