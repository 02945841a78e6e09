#include "local/controllers/garbage_graph.hpp"

#include <algorithm>

#include "local/controllers/owned_object.hpp"

namespace plim::local::controllers {
namespace {

bool blocks(const GarbageGraph::Node& node, const std::string& owner) {
  return std::any_of(node.owners.begin(), node.owners.end(), [&](const kube::Owner& one) {
    return one.uid == owner && one.block_owner_deletion;
  });
}

}  // namespace

GarbageGraph::Node::Node(std::size_t kind_number, const kube::ObjectMeta& meta)
    : kind(kind_number),
      ns(meta.ns.view()),
      name(meta.name),
      uid(meta.uid),
      owners(meta.owners),
      deleting(meta.deleted.has_value()),
      waits_for_dependents(deleting && has_finalizer(meta, kForegroundFinalizer)),
      orphans_dependents(deleting && has_finalizer(meta, kOrphanFinalizer)) {}

GarbageGraph::Uids GarbageGraph::put(Node node) {
  Uids out;
  bool waited = false;
  if (auto known = nodes_.find(node.uid); known != nodes_.end()) {
    const Node& before = known->second;
    waited = before.waits_for_dependents;
    // An owner that waited for this object may be free now.
    for (const kube::Owner& owner : before.owners)
      if (owner.block_owner_deletion && !blocks(node, owner.uid)) out.push_back(owner.uid);
    unlink(before);
    nodes_.erase(known);
  }
  const std::string uid = node.uid;
  const Node& placed = nodes_.emplace(uid, std::move(node)).first->second;
  link(placed);
  bool concerned = placed.waits_for_dependents || placed.orphans_dependents;
  for (const kube::Owner& owner : placed.owners) {
    const Node* above = find(owner.uid);
    if (!above || above->waits_for_dependents) concerned = true;
  }
  if (concerned) out.push_back(uid);
  if (placed.waits_for_dependents && !waited)
    for (const Node* dependent : dependents(uid)) out.push_back(dependent->uid);
  return out;
}

GarbageGraph::Uids GarbageGraph::erase(const std::string& uid) {
  Uids out;
  auto known = nodes_.find(uid);
  if (known == nodes_.end()) return out;
  for (const kube::Owner& owner : known->second.owners)
    if (const Node* above = find(owner.uid); above && above->waits_for_dependents)
      out.push_back(owner.uid);
  unlink(known->second);
  nodes_.erase(known);
  for (const Node* dependent : dependents(uid)) out.push_back(dependent->uid);
  return out;
}

const GarbageGraph::Node* GarbageGraph::find(const std::string& uid) const {
  auto found = nodes_.find(uid);
  return found == nodes_.end() ? nullptr : &found->second;
}

std::vector<const GarbageGraph::Node*> GarbageGraph::dependents(const std::string& owner) const {
  std::vector<const Node*> out;
  if (auto found = dependents_.find(owner); found != dependents_.end())
    for (const std::string& uid : found->second) out.push_back(&nodes_.at(uid));
  return out;
}

std::vector<const GarbageGraph::Node*> GarbageGraph::blocking_dependents(
    const std::string& owner) const {
  std::vector<const Node*> out = dependents(owner);
  std::erase_if(out, [&](const Node* node) { return !blocks(*node, owner); });
  return out;
}

void GarbageGraph::link(const Node& node) {
  for (const kube::Owner& owner : node.owners) dependents_[owner.uid].insert(node.uid);
}

void GarbageGraph::unlink(const Node& node) {
  for (const kube::Owner& owner : node.owners) {
    auto found = dependents_.find(owner.uid);
    if (found == dependents_.end()) continue;
    found->second.erase(node.uid);
    if (found->second.empty()) dependents_.erase(found);
  }
}

GarbageDecision decide_garbage(const GarbageGraph::Node& node,
                               const std::vector<OwnerState>& states, bool has_dependents) {
  using Action = GarbageDecision::Action;
  GarbageDecision out;
  if (node.owners.empty() || node.deleting) return out;
  bool present = false;
  bool waiting = false;
  for (std::size_t i = 0; i < states.size(); ++i) {
    present |= states[i] == OwnerState::present;
    waiting |= states[i] == OwnerState::waits_for_dependents;
    if (states[i] != OwnerState::present) out.dropped.push_back(node.owners[i].uid);
  }
  if (present) {
    if (!out.dropped.empty()) out.action = Action::drop_references;
    return out;
  }
  out.dropped.clear();
  out.action = waiting && has_dependents ? Action::remove_in_foreground : Action::remove;
  return out;
}

}  // namespace plim::local::controllers
