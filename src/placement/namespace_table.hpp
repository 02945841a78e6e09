// Namespaces with their labels, and the Services and controllers in them that select pods. Belongs
// to one thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kube/selector.hpp"
#include "kube/types.hpp"
#include "placement/label_texts.hpp"

namespace plim::placement {

// A Service, or a controller that owns pods.
struct SelectorOwner {
  std::string kind;  // Service, ReplicationController, ReplicaSet, StatefulSet
  std::string ns, name;
  kube::LabelSelector selector;
};

class NamespaceTable {
 public:
  void set(std::string_view name, kube::Labels labels);
  void remove(std::string_view name);
  void set_owner(SelectorOwner owner);
  void remove_owner(std::string_view kind, std::string_view ns, std::string_view name);

  // Empty for a namespace that does not exist.
  const kube::Labels& labels(std::string_view name) const;

  const TextMap<kube::Labels>& all() const { return labels_; }

  // The selectors of the pod's controller and of all Services that select it, joined to one. It
  // matches nothing if there is none.
  kube::LabelSelector owners_of(const kube::Pod& pod) const;

 private:
  TextMap<kube::Labels> labels_;
  TextMap<std::vector<SelectorOwner>> owners_;  // by namespace
};

}  // namespace plim::placement
