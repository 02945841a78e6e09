// The extenders of the current configuration, with the JSON of the objects they are asked about.
#pragma once

#include <memory>
#include <utility>

#include "kube/client.hpp"
#include "kube/types.hpp"
#include "sched/extender.hpp"
#include "sched/object_texts.hpp"

namespace plim::sched {

// Belongs to one loop.
class ExtenderSet {
 public:
  using List = std::shared_ptr<const ExtenderList>;

  ExtenderSet(std::shared_ptr<kube::Client> client, List extenders);

  // Replaces the extenders. A round that is under way keeps the list it began with.
  void set(List extenders);

  const List& list() const { return list_; }

  // Whether one of them must be asked before this pod gets a node.
  bool have_a_say(const kube::Pod& pod) const;

  ObjectTexts& texts() { return texts_; }

 private:
  ObjectTexts texts_;
  List list_;
};

}  // namespace plim::sched
