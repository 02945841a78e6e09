// Kubeconfig files that lead to a local cluster.
#pragma once

#include <string>
#include <string_view>

#include "base/result.hpp"
#include "net/x509.hpp"

namespace plim::local::cluster {

struct KubeconfigEntry {
  std::string name;    // of its context, cluster and user: "plimsoll-default"
  std::string server;  // "https://127.0.0.1:7443"
  std::string ca_pem;
  net::KeyPair client;
};

// A whole file with this one context.
std::string kubeconfig_text(const KubeconfigEntry& entry);

// Puts the entry into a file that holds others, in place of one of the same name, and makes it the
// current one. The file is replaced in one step, a link in its place is followed, and what it was
// stays beside it as *.plimsoll-backup. A missing file is made.
Result<void> merge_kubeconfig(const std::string& path, const KubeconfigEntry& entry);
// Takes the entry of this name out again; fine if there is none.
Result<void> unmerge_kubeconfig(const std::string& path, std::string_view name);

}  // namespace plim::local::cluster
