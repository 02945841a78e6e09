// Who owns whom, in the whole cluster. Pure.
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

// Objects by uid, which unlike a name is never used again.
class GarbageGraph {
 public:
  struct Node {
    std::size_t kind = 0;  // the caller's number for it
    std::string ns, name, uid;
    std::vector<kube::Owner> owners;
    bool deleting = false;
    bool waits_for_dependents = false;  // deleted in the foreground
    bool orphans_dependents = false;

    Node(std::size_t kind_number, const kube::ObjectMeta& meta);
  };

  using Uids = std::vector<std::string>;

  // Both answer whom this concerns: objects whose fate may have changed.
  Uids put(Node node);
  Uids erase(const std::string& uid);

  const Node* find(const std::string& uid) const;
  // Also of owners that are not known themselves.
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

// How an owner stands.
enum class OwnerState { present, absent, waits_for_dependents };

struct GarbageDecision {
  enum class Action {
    keep,
    drop_references,  // to owners that will not be there
    remove,           // by the policy that its own finalizers ask for
    remove_in_foreground,
  };

  Action action = Action::keep;
  std::vector<std::string> dropped = {};  // uids of owners
};

// `states` of node.owners, in their order.
GarbageDecision decide_garbage(const GarbageGraph::Node& node,
                               const std::vector<OwnerState>& states, bool has_dependents);

}  // namespace plim::local::controllers
