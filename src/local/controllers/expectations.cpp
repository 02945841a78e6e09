#include "local/controllers/expectations.hpp"

namespace plim::local::controllers {

void Expectations::expect_creations(const std::string& key, std::size_t count) {
  if (count > 0) pending(key).creations += count;
}

void Expectations::expect_deletions(const std::string& key, const std::vector<std::string>& uids) {
  if (!uids.empty()) pending(key).deletions.insert(uids.begin(), uids.end());
}

void Expectations::creation_observed(const std::string& key) {
  auto found = pending_.find(key);
  if (found == pending_.end() || found->second.creations == 0) return;
  --found->second.creations;
  drop_if_met(key);
}

void Expectations::deletion_observed(const std::string& key, const std::string& uid) {
  auto found = pending_.find(key);
  if (found == pending_.end() || found->second.deletions.erase(uid) == 0) return;
  drop_if_met(key);
}

void Expectations::forget(const std::string& key) {
  pending_.erase(key);
}

bool Expectations::satisfied(const std::string& key) const {
  auto found = pending_.find(key);
  return found == pending_.end() || clock_.steady() - found->second.since >= kTimeout;
}

Expectations::Pending& Expectations::pending(const std::string& key) {
  Pending& out = pending_[key];
  // Older ones have timed out.
  if (clock_.steady() - out.since >= kTimeout) out = {};
  out.since = clock_.steady();
  return out;
}

void Expectations::drop_if_met(const std::string& key) {
  auto found = pending_.find(key);
  if (found->second.creations == 0 && found->second.deletions.empty()) pending_.erase(found);
}

}  // namespace plim::local::controllers
