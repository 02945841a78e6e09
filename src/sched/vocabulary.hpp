// The names of the placement engine that the scheduler uses throughout. All other names of it are
// written with the namespace.
#pragma once

#include "placement/engine.hpp"
#include "placement/post_filter.hpp"

namespace plim::sched {

using placement::ClusterTables;
using placement::DecideOptions;
using placement::Decision;
using placement::Engine;
using placement::ExtenderPoints;
using placement::InventorySource;
using placement::LocalityMode;
using placement::NodeIndex;
using placement::NodeTable;
using placement::PluginId;
using placement::PluginScore;
using placement::PodPointer;
using placement::PostFilterOutcome;
using placement::PreemptionCandidate;
using placement::Profile;
using placement::RejectCode;
using placement::ScoredNode;
using placement::WeightedPlugin;

}  // namespace plim::sched
