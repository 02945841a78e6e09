// Credentials for the API server, kept fresh while the process runs.
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
  std::string authorization;  // value of the header; "": no header
  // From an exec plugin; replaces the configured certificate. May be empty.
  std::string certificate_pem, key_pem;
  std::uint64_t generation = 0;  // changes when any field above changes
};

// Belongs to one loop.
class Credentials {
 public:
  virtual ~Credentials() = default;
  virtual Task<Result<Identity>> current() = 0;
  // The server answered 401 to these. True: current() may have new ones, so try again.
  virtual bool rejected(std::uint64_t generation) = 0;
};

std::unique_ptr<Credentials> make_credentials(const Executor& loop, const Config& config,
                                              Clock& clock);

}  // namespace plim::kube
