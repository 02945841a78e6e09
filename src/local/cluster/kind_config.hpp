// Reads the cluster files of kind, for `plimsoll up --config`.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "base/text.hpp"

namespace plim::local::cluster {

// Plain data. Fields without a meaning here give one warning each.
struct KindConfig {
  struct Node {
    bool control_plane = false;
    std::vector<std::pair<std::string, std::string>> labels = {};
  };

  // What a patch of kubeadm's ClusterConfiguration sets for the scheduler.
  struct Scheduler {
    std::string config = {};          // the path inside the scheduler's pod; "": none
    std::string config_file = {};     // the same file on this machine, by the mounts
    std::string config_on_node = {};  // its path on the node, if no mount maps it
    TextPosition config_at = {};      // the position of that path in the kind file
    std::optional<int> v = {};
  };

  std::string name = {};  // "": the file has none
  std::vector<Node> nodes = {};
  Scheduler scheduler = {};
  std::vector<std::string> warnings = {};  // "cluster.yaml:3:1: networking has no effect here"
};

// Reads kind.x-k8s.io/v1alpha4, kind Cluster. Errors name line and column, also inside a patch that
// is a block scalar. A file without nodes has one control plane, as in kind.
Result<KindConfig> read_kind_config(std::string_view text, std::string_view source);

// "t-control-plane", "t-worker", "t-worker2": the names that kind uses, in the order of the file.
std::vector<std::string> kind_node_names(const KindConfig& config, std::string_view cluster);

}  // namespace plim::local::cluster
