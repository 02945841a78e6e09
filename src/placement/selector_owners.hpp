// Services and controllers as the scheduler needs them: which pods they select.
#pragma once

#include "kube/decode.hpp"
#include "placement/cluster_tables.hpp"

namespace plim::placement {

struct SelectingObject {
  kube::ObjectMeta meta;  // without labels and annotations, which are not used
  SelectorOwner owner;
};

// `kind` is Service, ReplicationController, ReplicaSet or StatefulSet.
kube::Codec<SelectingObject> selecting_codec(std::string kind, kube::InternPool& pool);

}  // namespace plim::placement
