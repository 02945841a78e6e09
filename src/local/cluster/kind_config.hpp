// A cluster as a file of kind's describes it: what `plimsoll up --config` takes of one.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "base/text.hpp"

namespace plim::local::cluster {

// Plain data. What has no meaning here is warned about, once for each field.
struct KindConfig {
  struct Node {
    bool control_plane = false;
    std::vector<std::pair<std::string, std::string>> labels = {};
  };

  // What a patch of kubeadm's ClusterConfiguration says about the scheduler.
  struct Scheduler {
    std::string config = {};       // as the scheduler is told, inside of its pod; "": none
    std::string config_file = {};  // which file of this machine that is, as the mounts say it
    TextPosition config_at = {};   // where the file names it
    std::optional<int> v = {};
  };

  std::string name = {};  // "": the file has none
  std::vector<Node> nodes = {};
  Scheduler scheduler = {};
  std::vector<std::string> warnings = {};  // "cluster.yaml:3:1: networking has no effect here"
};

// kind.x-k8s.io/v1alpha4, kind Cluster. An error names line and column, also of mistakes inside a
// patch that stands in a block of its own. Without nodes there is one control plane, as in kind.
Result<KindConfig> read_kind_config(std::string_view text, std::string_view source);

// "t-control-plane", "t-worker", "t-worker2": kind's names, in the order of the file.
std::vector<std::string> kind_node_names(const KindConfig& config, std::string_view cluster);

}  // namespace plim::local::cluster
