// Finds the pods of a node without reading all pods.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/task.hpp"
#include "local/apiserver/api/kinds.hpp"
#include "local/store/store.hpp"

namespace plim::local::apiserver {

// Follows the store. Callers read it right after catch_up(), so it has exactly the newest state.
// Belongs to the store's loop.
class PodIndex {
 public:
  explicit PodIndex(store::Store& store) : store_(store) {}

  // Updates it to store.view(); reads before the next co_await match that view.
  Task<void> catch_up();
  // Keys of the pods with this spec.nodeName, in order.
  const std::set<std::string>& on_node(std::string_view node) const;

 private:
  void rebuild();
  void note(const store::Change& change);
  void put(const std::string& key, std::string_view bytes);
  void drop(const std::string& key);

  store::Store& store_;
  std::unique_ptr<store::Watcher> watcher_;
  std::map<std::string, std::set<std::string>, std::less<>> by_node_;
  std::unordered_map<std::string, std::string> node_of_;  // by key; only pods with a node
};

}  // namespace plim::local::apiserver
