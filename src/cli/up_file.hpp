// What a file for kind, and the flags beside it, say about the nodes and the scheduler of `up`.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/role_children.hpp"
#include "cli/run.hpp"
#include "local/cluster/kind_config.hpp"
#include "local/cluster/nodes.hpp"

namespace plim::cli {

struct UpFile {
  std::optional<local::cluster::KindConfig> kind;  // none: no file was given
  RoleSettings roles;
  std::vector<std::string> warnings;
};

// Flags win over the file. What the scheduler is to read is read once here, so that its mistakes
// are told at once and not in a log.
Outcome<UpFile> read_up_file(const Context& context);

// Named, labelled and tainted as kind and kubeadm do it.
std::vector<local::cluster::NamedNode> nodes_of_kind(const local::cluster::KindConfig& config,
                                                     std::string_view cluster);

}  // namespace plim::cli
