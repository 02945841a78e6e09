// The keys and certificates of a local cluster: made at its first start, renewed when they are old.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/clock.hpp"
#include "base/result.hpp"
#include "net/x509.hpp"

namespace plim::local::cluster {

struct ClusterKeys {
  net::KeyPair authority;
  net::KeyPair server;      // the API server's
  net::KeyPair admin;       // of group system:masters
  net::KeyPair scheduler;   // user system:kube-scheduler
  std::string token_key;    // signs the tokens of service accounts
  std::string admin_token;  // 256 bit in hex
};

// Reads what `directory` holds, makes what is missing, unreadable, too old (30 days before its end)
// or, for the server, lacks one of `names`: further host names and addresses beside loopback's. A
// new authority makes everything else new too.
Result<ClusterKeys> keep_keys(const std::string& directory, const std::vector<std::string>& names,
                              WallTime now);

// What a node shows on its kubelet port, and what it could call the API server with.
Result<net::KeyPair> make_node_certificate(const net::KeyPair& authority, std::string_view node,
                                           std::string_view address, WallTime now);

}  // namespace plim::local::cluster
