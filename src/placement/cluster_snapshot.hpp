// A cluster from a file: what `kubectl get nodes,pods,namespaces,… -A -o json` prints, or manifests
// that people wrote. It is what the engine is filled with where no API server is asked.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "kube/interned.hpp"
#include "kube/types.hpp"
#include "loop/image_inventory.hpp"
#include "placement/engine.hpp"
#include "placement/side_objects.hpp"

namespace plim::placement {

struct Snapshot {
  std::vector<kube::Node> nodes;
  std::vector<PodPointer> pods;  // those that wait too
  std::vector<std::pair<std::string, kube::Labels>> namespaces;
  std::vector<SelectorOwner> owners;
  std::vector<std::pair<std::string, loop::ImageInventory>> inventories;  // by node
  std::vector<VolumeClaim> claims;
  std::vector<PersistentVolume> volumes;
  std::vector<StorageClass> classes;
  std::vector<DisruptionBudget> budgets;
};

// JSON or YAML; one object, several documents, or lists of objects. Kinds that no decision looks at
// are passed over, so that a dump of everything will do. The error names the object.
Result<Snapshot> read_snapshot(std::string_view text, std::string_view source,
                               kube::InternPool& pool);

// The pods of such a text, in order. Manifests lack what an API server fills in: the namespace is
// then "default", the scheduler default-scheduler, and limits are requests. At least one.
Result<std::vector<PodPointer>> read_pods(std::string_view text, std::string_view source,
                                          kube::InternPool& pool);

// Tells the engine everything but the pods that wait, and the budgets, which preemption is given.
void fill_engine(Engine& engine, const Snapshot& snapshot);

}  // namespace plim::placement
