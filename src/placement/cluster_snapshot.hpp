// A cluster from a file: what `kubectl get nodes,pods,namespaces,… -A -o json` prints, or manifests
// that people wrote. Commands that do not ask an API server fill the engine from it.
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
  std::vector<PodPointer> pods;  // also pods without a node
  std::vector<std::pair<std::string, kube::Labels>> namespaces;
  std::vector<SelectorOwner> owners;
  std::vector<std::pair<std::string, loop::ImageInventory>> inventories;  // by node
  std::vector<VolumeClaim> claims;
  std::vector<PersistentVolume> volumes;
  std::vector<StorageClass> classes;
  std::vector<CsiDriver> drivers;
  std::vector<CsiNode> csi_nodes;
  std::vector<StorageCapacity> capacities;
  std::vector<VolumeAttachment> attachments;
  std::vector<DisruptionBudget> budgets;
};

// JSON or YAML; one object, several documents, or lists of objects. Kinds that decisions do not use
// are skipped, so a dump of everything works. The error names the object.
Result<Snapshot> read_snapshot(std::string_view text, std::string_view source,
                               kube::InternPool& pool);

// Returns the pods of such a text in order, at least one. It sets what an API server would set: the
// namespace "default", the scheduler name default-scheduler, and missing requests from limits.
Result<std::vector<PodPointer>> read_pods(std::string_view text, std::string_view source,
                                          kube::InternPool& pool);

// Passes everything to the engine except pods without a node and budgets, which are arguments of
// preempt().
void fill_engine(Engine& engine, const Snapshot& snapshot);

}  // namespace plim::placement
