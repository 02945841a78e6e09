// Keys and certificates of a local cluster: created at its first start, renewed before they end.
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
  net::KeyPair server;            // the API server's
  net::KeyPair admin;             // in group system:masters
  net::KeyPair scheduler;         // user system:kube-scheduler
  net::KeyPair scheduler_server;  // of the scheduler's HTTPS port
  std::string token_key;          // signs the tokens of service accounts
  std::string admin_token;        // 256 bits in hex
};

// Reads the keys in `directory`. Creates those that are missing, unreadable or too old (30 days
// before their end), and the server's if it lacks one of `names`: host names and addresses in
// addition to loopback. A new authority replaces all other keys too.
Result<ClusterKeys> keep_keys(const std::string& directory, const std::vector<std::string>& names,
                              WallTime now);

// A node serves its kubelet port with it, and can call the API server with it.
Result<net::KeyPair> make_node_certificate(const net::KeyPair& authority, std::string_view node,
                                           std::string_view address, WallTime now);

}  // namespace plim::local::cluster
