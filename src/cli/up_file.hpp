// Reads the nodes and the scheduler settings of `up` from a kind configuration file and from flags.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/run.hpp"
#include "local/cluster/directories.hpp"
#include "local/cluster/kind_config.hpp"
#include "local/cluster/nodes.hpp"
#include "roles/role_children.hpp"

namespace plim::cli {

struct UpFile {
  std::optional<local::cluster::KindConfig> kind;  // none: no file was given
  roles::RoleSettings roles;
  std::vector<std::string> warnings;
  std::vector<std::string> notes = {};  // what the user may want to do next
};

// Flags take precedence over the file. Checks the scheduler configuration here, so that the user
// sees its errors at once and not in a log.
Outcome<UpFile> read_up_file(const Context& context);

// If the kind file names a scheduler configuration that no mount maps, uses the file of that path
// on the control plane, which the user may copy there at any time.
Outcome<void> use_config_on_node(const Context& context,
                                 const local::cluster::ClusterDirectories& directories,
                                 UpFile& file);

// Nodes with the names, labels and taints that kind and kubeadm set.
std::vector<local::cluster::NamedNode> nodes_of_kind(const local::cluster::KindConfig& config,
                                                     std::string_view cluster);

}  // namespace plim::cli
