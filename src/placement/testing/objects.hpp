// Makes pods and nodes from short YAML, for tests of decisions.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "kube/types.hpp"
#include "placement/engine.hpp"

namespace plim::placement::testing {

// `yaml` is the whole object: "{metadata: {name: a}, spec: {…}}". A pod without a uid gets one.
kube::Node node_of(std::string_view yaml);
PodPointer pod_of(std::string_view yaml);

// A node with 4 CPUs, 32Gi and room for 110 pods.
kube::Node plain_node(std::string_view name, std::string_view labels = "{}");
// A pod with one container that requests `requests`, "{cpu: 100m}".
PodPointer plain_pod(std::string_view name, std::string_view requests = "{}",
                     std::string_view labels = "{}");

kube::Labels labels_of(std::string_view yaml);

// The score that a plugin gave a node; -1 if it gave none.
std::int64_t raw_score(const Decision& decision, std::string_view node, PluginId plugin);
std::int64_t score_of(const Decision& decision, std::string_view node, PluginId plugin);

// A decision with all rows described.
Decision decide_all(Engine& engine, const PodPointer& pod, const Profile& profile);

}  // namespace plim::placement::testing
