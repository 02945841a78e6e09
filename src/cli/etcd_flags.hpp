// The etcd flags of agent and scheduler.
#pragma once

#include "cli/command.hpp"
#include "cli/run.hpp"
#include "kube/etcd.hpp"

namespace plim::cli {

inline constexpr Flag kEtcdEndpoints{.name = "etcd-endpoints",
                                     .metavar = "URL,...",
                                     .help = "etcd with the images of nodes: https://10.0.0.1:2379",
                                     .rare = true};
inline constexpr Flag kEtcdCaCert{.name = "etcd-cacert",
                                  .metavar = "FILE",
                                  .help = "CA certificates of that etcd",
                                  .live = Live::file,
                                  .rare = true};
inline constexpr Flag kEtcdCert{.name = "etcd-cert",
                                .metavar = "FILE",
                                .help = "client certificate for that etcd",
                                .live = Live::file,
                                .rare = true};
inline constexpr Flag kEtcdKey{.name = "etcd-key",
                               .metavar = "FILE",
                               .help = "key of the certificate",
                               .live = Live::file,
                               .rare = true};
inline constexpr Flag kEtcdCluster{.name = "etcd-cluster",
                                   .metavar = "NAME",
                                   .fallback = "default",
                                   .help = "cluster name in the keys, if clusters share the etcd",
                                   .rare = true};

// Without --etcd-endpoints the result has no endpoints.
Outcome<kube::EtcdOptions> etcd_options(const Context& context);

}  // namespace plim::cli
