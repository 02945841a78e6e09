// What a controller has asked for and not yet seen in its cache.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/clock.hpp"

namespace plim::local::controllers {

// A cache lags behind the writes of its reader: whoever counts pods before the ones just created
// arrive creates them twice. A key is acted upon only when nothing is outstanding, or when it has
// been outstanding for so long that the events must have been lost. Belongs to one loop.
class Expectations {
 public:
  static constexpr std::chrono::minutes kTimeout{5};

  explicit Expectations(const Clock& clock) : clock_(clock) {}

  void expect_creations(const std::string& key, std::size_t count);
  void expect_deletions(const std::string& key, const std::vector<std::string>& uids);
  // Seen in the cache, or known never to come because the call failed.
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
