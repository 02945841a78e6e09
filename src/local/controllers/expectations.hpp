// Creations and deletions that a controller has requested and not yet seen in its cache.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/clock.hpp"

namespace plim::local::controllers {

// A cache lags behind the writes of its owner: a controller that counts pods before the cache has
// the ones it just created would create them twice. So it acts on a key only if nothing is
// outstanding, or after a timeout, when the events must be lost. Belongs to one loop.
class Expectations {
 public:
  static constexpr std::chrono::minutes kTimeout{5};

  explicit Expectations(const Clock& clock) : clock_(clock) {}

  void expect_creations(const std::string& key, std::size_t count);
  void expect_deletions(const std::string& key, const std::vector<std::string>& uids);
  // The cache has it, or it will never come because the call failed.
  void creation_observed(const std::string& key);
  void deletion_observed(const std::string& key, const std::string& uid);
  void forget(const std::string& key);

  bool satisfied(const std::string& key) const;

 private:
  struct Pending {
    std::size_t creations = 0;
    std::set<std::string> deletions = {};
    SteadyTime since{};
  };

  Pending& pending(const std::string& key);
  void drop_if_met(const std::string& key);

  const Clock& clock_;
  std::map<std::string, Pending> pending_;
};

}  // namespace plim::local::controllers
