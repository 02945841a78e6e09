// Flags and examples of the commands for CPU pools, for the table of commands.
#pragma once

#include <array>

#include "cli/command.hpp"

namespace plim::cli {

inline constexpr Flag kPoolsHostRoot{.name = "host-root",
                                     .metavar = "DIR",
                                     .fallback = "/",
                                     .help = "root of the host's file system",
                                     .live = Live::directory};

// Flags that `agent run` has too.
inline constexpr Flag kPoolConfigs{.name = "poolconfigs",
                                   .metavar = "DIR,...",
                                   .help = "pools: /etc/cpu-pooler, /etc/cpu-dp, configmap:NS/NAME",
                                   .live = Live::directory};
inline constexpr Flag kPoolsCpusetRoot{.name = "cpusetroot",
                                       .metavar = "DIR",
                                       .help = "cgroup of the pods; default: detect",
                                       .live = Live::directory};
inline constexpr Flag kPoolsReconcileInterval{.name = "reconcile-interval",
                                              .type = Type::duration,
                                              .metavar = "DURATION",
                                              .fallback = "5s",
                                              .help = "how often to check every container"};
inline constexpr Flag kPoolsCpuListFormat{.name = "cpu-list-format",
                                          .metavar = "FORMAT",
                                          .fallback = "list",
                                          .help = "format of EXCLUSIVE_CPUS: 4,5,6 or 4-6",
                                          .choices = "list|ranges"};
inline constexpr Flag kPoolsStrict{.name = "strict",
                                   .type = Type::boolean,
                                   .fallback = "false",
                                   .help = "treat warnings of the configuration as errors"};
inline constexpr Flag kPoolsNodeReport{.name = "node-report",
                                       .type = Type::boolean,
                                       .fallback = "false",
                                       .help = "publish the pools in the NodeReport of the node"};
inline constexpr Flag kPoolsAnnotate{
    .name = "annotate",
    .type = Type::boolean,
    .fallback = "false",
    .help = "write <base>/cpusets-configured to pods; needs permission to patch pods",
    .rare = true};
inline constexpr Flag kPoolsAllowStatic{.name = "allow-static",
                                        .type = Type::boolean,
                                        .fallback = "false",
                                        .help = "run despite the kubelet's static CPU manager",
                                        .rare = true};
inline constexpr Flag kPoolsStarterDelivery{
    .name = "starter-delivery",
    .metavar = "HOW",
    .fallback = "hostpath",
    .help = "how containers get the starter: hostPath of the webhook, or device plugin",
    .choices = "hostpath|plugin",
    .rare = true};
inline constexpr Flag kPoolsStarterPath{.name = "process-starter-path",
                                        .metavar = "FILE",
                                        .fallback = "/opt/bin/process-starter",
                                        .help = "path of the starter on the host and in containers",
                                        .rare = true};
inline constexpr Flag kPoolsParts{.name = "parts",
                                  .metavar = "WHICH",
                                  .fallback = "all",
                                  .help = "run device plugins, cpusets or both",
                                  .choices = "all|plugin|setter",
                                  .rare = true};

inline constexpr std::array kPoolsAgentExamples{
    Example{"pools agent --poolconfigs /etc/cpu-pooler --node-name n1", "as in a DaemonSet"},
    Example{"pools agent --poolconfigs /etc/cpu-dp --dry-run", "only log what would happen"},
};
inline constexpr std::array kPoolsAgentFlags{
    kPoolConfigs,
    Flag{.name = "node-name",
         .metavar = "NAME",
         .help = "name of this node; default: NODE_NAME",
         .live = Live::node},
    Flag{.name = "kubelet-dir",
         .metavar = "DIR",
         .help = "kubelet directory; default: /var/lib/kubelet",
         .live = Live::directory},
    kPoolsHostRoot,
    kPoolsCpusetRoot,
    Flag{.name = "cgroup-root",
         .metavar = "PATH",
         .help = "the kubelet's own --cgroup-root",
         .rare = true},
    kPoolsReconcileInterval,
    kPoolsCpuListFormat,
    Flag{.name = "metrics-listen",
         .metavar = "ADDRESS",
         .fallback = "127.0.0.1:9101",
         .help = "metrics, health, /state; or none"},
    Flag{.name = "dry-run",
         .type = Type::boolean,
         .fallback = "false",
         .help = "write no cgroup, register no plugin"},
    kPoolsStrict,
    kPoolsNodeReport,
    kPoolsAnnotate,
    kPoolsAllowStatic,
    kPoolsStarterDelivery,
    kPoolsStarterPath,
    kPoolsParts,
    Flag{.name = "run-dir",
         .metavar = "DIR",
         .fallback = "/run/plimsoll",
         .help = "directory of the lock against a second agent",
         .live = Live::directory,
         .rare = true},
};

inline constexpr std::array kPoolsExamples{
    Example{"pools", "nodes of the local cluster"},
    Example{"pools --node n1 -o json", "one node, for scripts"},
    Example{"pools --url http://127.0.0.1:9101", "ask a running agent"},
    Example{"pools --poolconfigs /etc/cpu-pooler", "this machine, without an agent"},
};
inline constexpr std::array kPoolsFlags{
    Flag{.name = "node", .metavar = "NAME", .help = "only this node", .live = Live::node},
    Flag{.name = "url", .metavar = "URL", .help = "address of an agent; PLIMSOLL_POOLS_URL"},
    Flag{.name = "poolconfigs",
         .metavar = "DIR,...",
         .help = "show this machine, without an agent",
         .live = Live::directory},
    kPoolsHostRoot,
    Flag{.name = "kubelet-dir",
         .metavar = "DIR",
         .help = "kubelet directory; default: /var/lib/kubelet",
         .live = Live::directory,
         .rare = true},
    Flag{.name = "labels", .metavar = "K=V,...", .help = "labels of this node", .rare = true},
};

inline constexpr std::array kPoolsValidateExamples{
    Example{"pools validate -f poolconfig.yaml", "against the CPUs of this machine"},
    Example{"pools validate deploy/pools/cpu-dp-config.yaml --labels nodeType=dpdk",
            "as a node with that label reads it"},
    Example{"pools validate /etc/cpu-pooler --host-root /host --strict",
            "treat warnings as errors"},
};
inline constexpr std::array kPoolsValidateFlags{
    Flag{.name = "file",
         .letter = 'f',
         .metavar = "FILE",
         .help = "files, manifests or directories, comma-separated",
         .live = Live::file},
    kPoolsHostRoot,
    Flag{.name = "labels",
         .metavar = "K=V,...",
         .help = "labels of the node; default: check every file"},
    Flag{.name = "strict",
         .type = Type::boolean,
         .fallback = "false",
         .help = "treat warnings as errors"},
};
inline constexpr std::array kPoolsValidatePositionals{
    Positional{.metavar = "FILE",
               .help = "same as --file",
               .live = Live::file,
               .optional = true,
               .repeats = true},
};

inline constexpr std::array kPoolsSchemaExamples{
    Example{"pools schema", "same as docs/schema/cpus-annotation.json"},
};

inline constexpr std::array kPoolsInstallStarterExamples{
    Example{"pools install-starter", "copy it to /opt/bin/process-starter, as the webhook expects"},
};
inline constexpr std::array kPoolsInstallStarterFlags{
    Flag{.name = "path",
         .metavar = "FILE",
         .fallback = "/opt/bin/process-starter",
         .help = "target file; replaced atomically",
         .live = Live::file},
};
inline constexpr std::array kStarterExamples{
    Example{"starter -- ./server --port 80", "run it on the CPUs of the container"},
};
inline constexpr std::array kStarterPositionals{
    Positional{.metavar = "WORD",
               .help = "the program and its arguments",
               .optional = true,
               .repeats = true},
};

}  // namespace plim::cli
