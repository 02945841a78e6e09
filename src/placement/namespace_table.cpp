#include "placement/namespace_table.hpp"

#include <algorithm>
#include <utility>

namespace plim::placement {
namespace {

// Adds the requirements of `more` to the text of a selector.
void append_selector(std::string& text, const kube::LabelSelector& more) {
  std::string own = more.to_string();
  if (own.empty()) return;
  if (!text.empty()) text += ',';
  text += own;
}

}  // namespace

void NamespaceTable::set(std::string_view name, kube::Labels labels) {
  labels_.insert_or_assign(std::string(name), std::move(labels));
}

void NamespaceTable::remove(std::string_view name) {
  if (auto at = labels_.find(name); at != labels_.end()) labels_.erase(at);
}

const kube::Labels& NamespaceTable::labels(std::string_view name) const {
  static const kube::Labels none;
  auto at = labels_.find(name);
  return at == labels_.end() ? none : at->second;
}

void NamespaceTable::set_owner(SelectorOwner owner) {
  remove_owner(owner.kind, owner.ns, owner.name);
  owners_[owner.ns].push_back(std::move(owner));
}

void NamespaceTable::remove_owner(std::string_view kind, std::string_view ns,
                                  std::string_view name) {
  auto in_namespace = owners_.find(ns);
  if (in_namespace == owners_.end()) return;
  std::erase_if(in_namespace->second,
                [&](const SelectorOwner& one) { return one.kind == kind && one.name == name; });
  if (in_namespace->second.empty()) owners_.erase(in_namespace);
}

kube::LabelSelector NamespaceTable::owners_of(const kube::Pod& pod) const {
  auto in_namespace = owners_.find(pod.meta.ns.view());
  if (in_namespace == owners_.end()) return kube::LabelSelector::nothing();
  auto controller = std::ranges::find_if(pod.meta.owners, &kube::Owner::controller);
  std::string text;
  for (const SelectorOwner& one : in_namespace->second) {
    bool chooses = one.kind == "Service"
                       ? one.selector.matches(pod.meta.labels)
                       : controller != pod.meta.owners.end() && controller->kind == one.kind &&
                             controller->name == one.name;
    if (chooses) append_selector(text, one.selector);
  }
  if (text.empty()) return kube::LabelSelector::nothing();
  auto made = kube::LabelSelector::parse(text);
  return made ? std::move(*made) : kube::LabelSelector::nothing();
}

}  // namespace plim::placement
