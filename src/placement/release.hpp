// The version of kube-scheduler that decisions follow. Each difference between versions has a
// function here, so that plugins ask for a behavior and not for a number. Feature gates that change
// decisions are part of it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace plim::placement {

struct Release {
  static constexpr int kOldest = 34, kNewest = 37;  // minor versions of Kubernetes 1

  int minor = kNewest;
  bool numeric_tolerations = false;  // the feature gate TaintTolerationComparisonOperators
  std::optional<bool> storage_capacity_scoring;  // StorageCapacityScoring, if given
  std::optional<bool> volume_limit_scaling;      // VolumeLimitScaling, if given

  // NodeName runs before NodeUnschedulable.
  bool node_name_first() const { return minor >= 37; }

  // NodeDeclaredFeatures is a default plugin.
  bool checks_declared_features() const { return minor >= 36; }

  // DynamicResources scores nodes, by default with weight 2.
  bool scores_claims() const { return minor >= 35; }

  // VolumeBinding scores nodes.
  bool scores_storage() const { return storage_capacity_scoring.value_or(minor >= 37); }

  // Nodes without the CSI driver of a volume are rejected.
  bool scales_volume_limits() const { return volume_limit_scaling.value_or(minor >= 37); }

  // NodeResourcesBalancedAllocation compares the balance after with the balance before.
  bool scores_change_of_balance() const { return minor >= 36; }

  // ImageLocality counts image volumes.
  bool scores_image_volumes() const { return minor >= 36; }

  // A namespaceSelector of the incoming pod is applied only to the labels of namespaces. Older
  // versions apply it also to an empty set of labels.
  bool reads_namespace_labels_only() const { return minor >= 37; }

  // The resources in the status of a pod count while the pod as a whole is resized (the feature
  // gate InPlacePodLevelResourcesVerticalScaling).
  bool counts_pod_resize() const { return minor >= 36; }

  // A resize counts by the sums over all containers. Older versions compare container by container.
  bool sums_before_comparing() const { return minor >= 37; }

  // FailedScheduling names the node that preemption chose. Plugins that could not help are silent.
  bool reports_preemption() const { return minor >= 37; }

  // A victim that violates one disruption budget does not use up the ones that follow.
  bool stops_at_first_budget() const { return minor >= 37; }

  // requestedToCapacityRatio is allowed only with its own strategy.
  bool checks_strategy_fields() const { return minor >= 36; }

  bool operator==(const Release&) const = default;
};

// Reads the value of --emulated-version: "1.35" or "kube=1.35". Fails for other components and for
// versions that we do not emulate.
Result<Release> parse_release(std::string_view text);

// Reads the value of --feature-gates, "Name=true,Other=false". The gates that change decisions are
// set in `release`. Returns the names of gates that have no effect here.
Result<std::vector<std::string>> apply_feature_gates(std::string_view text, Release& release);

std::string name_of(const Release& release);  // "1.37"

}  // namespace plim::placement
