// The owner references of the whole cluster as a graph. Pure.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "kube/store.hpp"
#include "kube/types.hpp"

namespace plim::local::controllers {

inline constexpr std::string_view kForegroundFinalizer = "foregroundDeletion";
inline constexpr std::string_view kOrphanFinalizer = "orphan";

// Objects by UID, which is never reused, unlike a name.
class GarbageGraph {
 public:
  struct Node {
    std::size_t kind = 0;  // the caller's index of the kind
    std::string ns, name, uid;
    std::vector<kube::Owner> owners;
    bool deleting = false;
    bool waits_for_dependents = false;  // foreground deletion
    bool orphans_dependents = false;

    Node(std::size_t kind_number, const kube::ObjectMeta& meta);
  };

  using Uids = std::vector<std::string>;

  // Both return the UIDs of objects that have to be checked again.
  Uids put(Node node);
  Uids erase(const std::string& uid);

  const Node* find(const std::string& uid) const;
  // Works for owners that are not in the graph, too.
  std::vector<const Node*> dependents(const std::string& owner) const;
  std::vector<const Node*> blocking_dependents(const std::string& owner) const;

  std::size_t size() const { return nodes_.size(); }

  template <class Visit>
  void for_each(const Visit& visit) const {
    for (const auto& [uid, node] : nodes_) visit(node);
  }

 private:
  void link(const Node& node);
  void unlink(const Node& node);

  std::unordered_map<std::string, Node> nodes_;
  std::unordered_map<std::string, std::unordered_set<std::string>> dependents_;
};

enum class OwnerState { present, absent, waits_for_dependents };

struct GarbageDecision {
  enum class Action {
    keep,
    drop_references,  // remove references to owners that are gone or will be
    remove,           // delete by the policy that its own finalizers imply
    remove_in_foreground,
  };

  Action action = Action::keep;
  std::vector<std::string> dropped = {};  // UIDs of owners
};

// `states` has one element for each of node.owners, in that order.
GarbageDecision decide_garbage(const GarbageGraph::Node& node,
                               const std::vector<OwnerState>& states, bool has_dependents);

}  // namespace plim::local::controllers
