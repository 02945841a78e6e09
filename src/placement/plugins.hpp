// The filters and scores of all plugins, each defined in the plugin's own file. plugin_table.cpp
// says which plugin uses which.
#pragma once

#include <memory>
#include <span>

#include "placement/cycle.hpp"

namespace plim::placement {

std::unique_ptr<Filter> make_unschedulable_filter(Cycle& cycle);
std::unique_ptr<Filter> make_node_name_filter(Cycle& cycle);
std::unique_ptr<Filter> make_taint_filter(Cycle& cycle);
std::unique_ptr<Filter> make_ports_filter(Cycle& cycle);
std::unique_ptr<Filter> make_dynamic_resources_filter(Cycle& cycle);
std::unique_ptr<Filter> make_declared_features_filter(Cycle& cycle);
std::unique_ptr<Filter> make_fit_filter(Cycle& cycle);
std::unique_ptr<Filter> make_node_affinity_filter(Cycle& cycle);
std::unique_ptr<Filter> make_spread_filter(Cycle& cycle);
std::unique_ptr<Filter> make_inter_pod_filter(Cycle& cycle);
std::unique_ptr<Filter> make_volume_restrictions_filter(Cycle& cycle);
std::unique_ptr<Filter> make_volume_binding_filter(Cycle& cycle);
std::unique_ptr<Filter> make_volume_limits_filter(Cycle& cycle);
std::unique_ptr<Filter> make_volume_zone_filter(Cycle& cycle);
// For pods and profiles that require images on the node. kube-scheduler has no such filter.
std::unique_ptr<Filter> make_images_filter(Cycle& cycle);

bool score_taints(Cycle& cycle, std::span<const NodeIndex> rows, ScoreColumn& out);
bool score_fit(Cycle& cycle, std::span<const NodeIndex> rows, ScoreColumn& out);
bool score_node_affinity(Cycle& cycle, std::span<const NodeIndex> rows, ScoreColumn& out);
bool score_spread(Cycle& cycle, std::span<const NodeIndex> rows, ScoreColumn& out);
bool score_inter_pod(Cycle& cycle, std::span<const NodeIndex> rows, ScoreColumn& out);
bool score_locality(Cycle& cycle, std::span<const NodeIndex> rows, ScoreColumn& out);
// 0 for every node: no pod with resource claims comes this far.
bool score_no_claims(Cycle& cycle, std::span<const NodeIndex> rows, ScoreColumn& out);
bool score_volume_binding(Cycle& cycle, std::span<const NodeIndex> rows, ScoreColumn& out);
bool score_balanced(Cycle& cycle, std::span<const NodeIndex> rows, ScoreColumn& out);

}  // namespace plim::placement
