// Services and controllers as the scheduler needs them: whom they select.
#pragma once

#include "kube/decode.hpp"
#include "sched/cluster.hpp"

namespace plim::sched {

struct SelectingObject {
  kube::ObjectMeta meta;  // without labels and annotations, which nobody reads
  SelectorOwner owner;
};

// `kind` is Service, ReplicationController, ReplicaSet or StatefulSet.
kube::Codec<SelectingObject> selecting_codec(std::string kind, kube::InternPool& pool);

}  // namespace plim::sched
