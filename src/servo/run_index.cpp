#include "servo/run_index.hpp"

#include <algorithm>
#include <utility>

namespace plim::servo {

void RunIndex::add(JournalPosition at, StoreEntry entry) {
  if (auto* run = std::get_if<RunEntry>(&entry)) {
    add_run(run->run.key(), at, run->run.observed, run->send ? SendState::unsent : SendState::kept);
  } else if (auto* mark_entry = std::get_if<MarkEntry>(&entry)) {
    mark(mark_entry->key, mark_entry->state, std::move(mark_entry->why));
  } else {
    const auto& known = std::get<KnownEntry>(entry);
    for (const std::string& key : known.keys)
      entries_.try_emplace(key, Entry{.at = at, .observed = known.at, .key_only = true});
  }
}

void RunIndex::add_run(const std::string& key, JournalPosition at, WallTime observed,
                       SendState state) {
  const Entry entry{.at = at, .observed = observed, .state = state};
  if (!entries_.try_emplace(key, entry).second) return;
  if (state == SendState::unsent) unsent_.emplace(at, key);
}

void RunIndex::mark(const std::string& key, SendState state, std::string why) {
  auto found = entries_.find(key);
  if (found == entries_.end()) return;
  unsent_.erase(found->second.at);
  found->second.state = state;
  found->second.why = std::move(why);
}

std::vector<JournalPosition> RunIndex::unsent_after(JournalPosition after,
                                                    std::size_t limit) const {
  std::vector<JournalPosition> out;
  for (auto at = unsent_.upper_bound(after); at != unsent_.end() && out.size() < limit; ++at)
    out.push_back(at->first);
  return out;
}

bool RunIndex::has_unsent_up_to(std::uint64_t segment) const {
  return !unsent_.empty() && unsent_.begin()->first.segment <= segment;
}

std::vector<JournalPosition> RunIndex::of_pod(const std::string& uid) const {
  std::vector<JournalPosition> out;
  const std::string prefix = uid + "/";
  for (auto at = entries_.lower_bound(prefix);
       at != entries_.end() && at->first.starts_with(prefix); ++at)
    if (!at->second.key_only) out.push_back(at->second.at);
  return out;
}

std::vector<StoredRun> RunIndex::with_states(std::vector<StoredRun> runs) const {
  std::erase_if(runs, [this](StoredRun& run) {
    auto found = entries_.find(run.run.key());
    if (found == entries_.end()) return true;
    run.state = found->second.state;
    run.why = found->second.why;
    return false;
  });
  return runs;
}

RunIndex::Old RunIndex::up_to(std::uint64_t segment, const IsNeeded& is_needed) const {
  Old out;
  for (const auto& [key, entry] : entries_) {
    if (entry.at.segment > segment) continue;
    out.newest = std::max(out.newest, entry.observed);
    (is_needed(key, entry.observed) ? out.needed : out.others).push_back(key);
  }
  return out;
}

void RunIndex::keep_keys(const std::vector<std::string>& keys, JournalPosition at) {
  for (const std::string& key : keys) {
    auto found = entries_.find(key);
    if (found == entries_.end()) continue;
    found->second.at = at;
    found->second.key_only = true;
  }
}

void RunIndex::forget(const std::vector<std::string>& keys) {
  for (const std::string& key : keys) entries_.erase(key);
}

}  // namespace plim::servo
