// The manifests of deploy/, built into the program and adapted to a cluster.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.hpp"
#include "base/result.hpp"

namespace plim::roles {

struct ManifestFile {
  std::string_view role;  // name of the folder
  std::string_view name;
  std::string_view text;
};

// In the order in which to apply them.
std::span<const ManifestFile> manifest_files();
std::vector<std::string> manifest_roles();

struct ManifestChanges {
  std::string ns;     // empty: as in the file
  std::string image;  // empty: as in the file
};

// The objects of one role. Their Namespace comes first, unless every cluster has it.
Result<std::vector<json::value>> manifests_of(std::string_view role,
                                              const ManifestChanges& changes);

bool is_cluster_scoped(std::string_view kind);

}  // namespace plim::roles
