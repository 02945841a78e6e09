// All plugins of the engine, one row each: where it runs, how it filters and scores. To add a
// plugin, write its file and its test, name it in plugin_id.hpp and plugins.hpp, and add its row.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <string_view>

#include "placement/decision.hpp"
#include "placement/plugin_id.hpp"

namespace plim::placement {

struct Cycle;
class Filter;
struct ScoreColumn;

// The extension points of a plugin.
class PointSet {
 public:
  constexpr PointSet() = default;

  constexpr PointSet(std::initializer_list<Point> points) {
    for (const Point point : points) bits_ |= bit(point);
  }

  constexpr bool has(Point point) const { return (bits_ & bit(point)) != 0; }

 private:
  static constexpr unsigned bit(Point point) { return 1U << static_cast<unsigned>(point); }

  unsigned bits_ = 0;
};

// What a filter or a score compares the pod with. Pods of equal shape share what comes from the
// node's own row (node_class.hpp); what comes from the cluster is judged for every pod.
enum class Reads : std::uint8_t {
  cluster,         // other nodes and the pods on them
  row,             // the node's row only
  row_and_images,  // the row and the view of the pod's images
};

// Returns null if the plugin does not apply to this pod. It may set Cycle::failure.
using MakeFilter = std::unique_ptr<Filter>(Cycle& cycle);
// Fills raw and normalized for these rows; false if the plugin does not apply to this pod. Unless
// it reads the cluster, a node's score must not depend on which other rows are given.
using ScoreRows = bool(Cycle& cycle, std::span<const NodeIndex> rows, ScoreColumn& out);

struct Plugin {
  PluginId id{};
  std::string_view name;
  PointSet points;
  std::int64_t weight = 0;  // in the default profile; 0: not given, which counts as 1
  MakeFilter* make_filter = nullptr;
  Reads filter_reads = Reads::cluster;
  bool filters_alone = false;  // its filter runs also without its PreFilter step
  ScoreRows* score = nullptr;
  Reads score_reads = Reads::cluster;
};

// In the order of PluginId.
std::span<const Plugin, kPluginCount> plugin_table();

const Plugin& plugin_row(PluginId plugin);

}  // namespace plim::placement
