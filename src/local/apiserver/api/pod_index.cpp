#include "local/apiserver/api/pod_index.hpp"

#include "local/apiserver/api/selection.hpp"

namespace plim::local::apiserver {
namespace {

constexpr std::string_view kPods = "/registry/core/pods/";
constexpr std::size_t kChangesAtOnce = 1000;

}  // namespace

void PodIndex::rebuild() {
  by_node_.clear();
  node_of_.clear();
  const store::View view = store_.view();
  auto visit = [&](const store::EntryPtr& entry) {
    if (!entry->key.starts_with(kPods)) return false;
    put(entry->key, *entry->value);
    return true;
  };
  view.tree().scan(kPods, visit);
  auto watcher = store_.watch(std::string(kPods), view.revision());
  watcher_ = watcher ? std::move(*watcher) : nullptr;
}

Task<void> PodIndex::catch_up() {
  while (watcher_ && !watcher_->lost() && watcher_->pending() > 0) {
    auto changes = co_await watcher_->next(kChangesAtOnce);
    if (!changes) break;
    for (const store::ChangePtr& change : *changes) note(*change);
  }
  // The store drops the watcher if the index was not read for long.
  if (!watcher_ || watcher_->lost()) rebuild();
}

void PodIndex::note(const store::Change& change) {
  if (change.now)
    put(change.key(), *change.now->value);
  else
    drop(change.key());
}

void PodIndex::put(const std::string& key, std::string_view bytes) {
  const std::string node = field_text(bytes, {"spec", "nodeName"});
  auto known = node_of_.find(key);
  if (known != node_of_.end() && known->second == node) return;
  if (known != node_of_.end()) drop(key);
  if (node.empty()) return;
  by_node_[node].insert(key);
  node_of_[key] = node;
}

void PodIndex::drop(const std::string& key) {
  auto known = node_of_.find(key);
  if (known == node_of_.end()) return;
  auto place = by_node_.find(known->second);
  place->second.erase(key);
  if (place->second.empty()) by_node_.erase(place);
  node_of_.erase(known);
}

const std::set<std::string>& PodIndex::on_node(std::string_view node) const {
  static const std::set<std::string> kNone;
  auto found = by_node_.find(node);
  return found == by_node_.end() ? kNone : found->second;
}

}  // namespace plim::local::apiserver
