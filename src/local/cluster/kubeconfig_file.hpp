// Kubeconfig files for a local cluster.
#pragma once

#include <string>
#include <string_view>

#include "base/result.hpp"
#include "net/x509.hpp"

namespace plim::local::cluster {

struct KubeconfigEntry {
  std::string name;    // of context, cluster and user: "plimsoll-default"
  std::string server;  // "https://127.0.0.1:7443"
  std::string ca_pem;
  net::KeyPair client;
};

// A whole file with this one context.
std::string kubeconfig_text(const KubeconfigEntry& entry);

// Puts the entry into a file with other entries and makes it the current context; replaces an entry
// of the same name. Replaces the file in one step, follows a symbolic link, and keeps the old text
// as *.plimsoll-backup. Creates a missing file.
Result<void> merge_kubeconfig(const std::string& path, const KubeconfigEntry& entry);
// Removes the entry of this name; succeeds if there is none.
Result<void> unmerge_kubeconfig(const std::string& path, std::string_view name);

}  // namespace plim::local::cluster
