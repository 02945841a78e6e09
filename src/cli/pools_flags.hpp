// Flags and examples of the commands about CPU pools, for the one table of commands.
#pragma once

#include <array>

#include "cli/command.hpp"

namespace plim::cli {

inline constexpr Flag kPoolsHostRoot{.name = "host-root",
                                     .metavar = "DIR",
                                     .fallback = "/",
                                     .help = "where the host's file system is",
                                     .live = Live::directory};

// Those that `agent run` takes too.
inline constexpr Flag kPoolConfigs{.name = "poolconfigs",
                                   .metavar = "DIR,...",
                                   .help = "/etc/cpu-pooler and /etc/cpu-dp; configmap:NS/NAME",
                                   .live = Live::directory};
inline constexpr Flag kPoolsCpusetRoot{.name = "cpusetroot",
                                       .metavar = "DIR",
                                       .help = "the cgroup that holds the pods; found by itself",
                                       .live = Live::directory};
inline constexpr Flag kPoolsReconcileInterval{.name = "reconcile-interval",
                                              .type = Type::duration,
                                              .metavar = "DURATION",
                                              .fallback = "5s",
                                              .help = "look at every container so often"};
inline constexpr Flag kPoolsCpuListFormat{.name = "cpu-list-format",
                                          .metavar = "FORMAT",
                                          .fallback = "list",
                                          .help = "of EXCLUSIVE_CPUS: 4,5,6 or 4-6",
                                          .choices = "list|ranges"};
inline constexpr Flag kPoolsStrict{.name = "strict",
                                   .type = Type::boolean,
                                   .fallback = "false",
                                   .help = "warnings of the configuration are errors"};
inline constexpr Flag kPoolsNodeReport{.name = "node-report",
                                       .type = Type::boolean,
                                       .fallback = "false",
                                       .help = "publish the pools as the node's NodeReport"};
inline constexpr Flag kPoolsAnnotate{
    .name = "annotate",
    .type = Type::boolean,
    .fallback = "false",
    .help = "write <base>/cpusets-configured on pods; needs the right to patch them",
    .rare = true};
inline constexpr Flag kPoolsAllowStatic{.name = "allow-static",
                                        .type = Type::boolean,
                                        .fallback = "false",
                                        .help = "run beside the kubelet's static CPU manager",
                                        .rare = true};
inline constexpr Flag kPoolsStarterDelivery{
    .name = "starter-delivery",
    .metavar = "HOW",
    .fallback = "hostpath",
    .help = "who mounts the starter: the webhook's hostPath, or the plugin",
    .choices = "hostpath|plugin",
    .rare = true};
inline constexpr Flag kPoolsStarterPath{.name = "process-starter-path",
                                        .metavar = "FILE",
                                        .fallback = "/opt/bin/process-starter",
                                        .help = "of the starter, on the host and in containers",
                                        .rare = true};
inline constexpr Flag kPoolsParts{.name = "parts",
                                  .metavar = "WHICH",
                                  .fallback = "all",
                                  .help = "device plugins, cpusets or both",
                                  .choices = "all|plugin|setter",
                                  .rare = true};

inline constexpr std::array kPoolsAgentExamples{
    Example{"pools agent --poolconfigs /etc/cpu-pooler --node-name n1", "as a DaemonSet does"},
    Example{"pools agent --poolconfigs /etc/cpu-dp --dry-run", "say what would be done"},
};
inline constexpr std::array kPoolsAgentFlags{
    kPoolConfigs,
    Flag{.name = "node-name",
         .metavar = "NAME",
         .help = "this node; else NODE_NAME",
         .live = Live::node},
    Flag{.name = "kubelet-dir",
         .metavar = "DIR",
         .help = "of the kubelet; /var/lib/kubelet",
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
         .help = "metrics, health and /state; none"},
    Flag{.name = "dry-run",
         .type = Type::boolean,
         .fallback = "false",
         .help = "write no cgroup, register nothing"},
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
         .help = "for the lock that keeps a second one away",
         .live = Live::directory,
         .rare = true},
};

inline constexpr std::array kPoolsExamples{
    Example{"pools", "of the local cluster's nodes"},
    Example{"pools --node n1 -o json", "one node, for scripts"},
    Example{"pools --url http://127.0.0.1:9101", "ask an agent that runs"},
    Example{"pools --poolconfigs /etc/cpu-pooler", "this machine, no agent needed"},
};
inline constexpr std::array kPoolsFlags{
    Flag{.name = "node", .metavar = "NAME", .help = "only this node", .live = Live::node},
    Flag{.name = "url", .metavar = "URL", .help = "of an agent; PLIMSOLL_POOLS_URL"},
    Flag{.name = "poolconfigs",
         .metavar = "DIR,...",
         .help = "look at this machine itself, without an agent",
         .live = Live::directory},
    kPoolsHostRoot,
    Flag{.name = "kubelet-dir",
         .metavar = "DIR",
         .help = "of the kubelet; /var/lib/kubelet",
         .live = Live::directory,
         .rare = true},
    Flag{.name = "labels", .metavar = "K=V,...", .help = "of this node", .rare = true},
};

inline constexpr std::array kPoolsValidateExamples{
    Example{"pools validate -f poolconfig.yaml", "against the CPUs of this machine"},
    Example{"pools validate deploy/pools/cpu-dp-config.yaml --labels nodeType=dpdk",
            "as a node with that label would read it"},
    Example{"pools validate /etc/cpu-pooler --host-root /host --strict", "warnings count too"},
};
inline constexpr std::array kPoolsValidateFlags{
    Flag{.name = "file",
         .letter = 'f',
         .metavar = "FILE",
         .help = "files, manifests or directories, commas between",
         .live = Live::file},
    kPoolsHostRoot,
    Flag{.name = "labels",
         .metavar = "K=V,...",
         .help = "of the node; without it every file is checked"},
    Flag{.name = "strict",
         .type = Type::boolean,
         .fallback = "false",
         .help = "warnings are errors"},
};
inline constexpr std::array kPoolsValidatePositionals{
    Positional{.metavar = "FILE",
               .help = "as --file",
               .live = Live::file,
               .optional = true,
               .repeats = true},
};

inline constexpr std::array kPoolsSchemaExamples{
    Example{"pools schema", "also docs/schema/cpus-annotation.json"},
};

inline constexpr std::array kPoolsInstallStarterExamples{
    Example{"pools install-starter", "to /opt/bin/process-starter, where the webhook points to"},
};
inline constexpr std::array kPoolsInstallStarterFlags{
    Flag{.name = "path",
         .metavar = "FILE",
         .fallback = "/opt/bin/process-starter",
         .help = "where to; replaced in one step",
         .live = Live::file},
};
inline constexpr std::array kStarterExamples{
    Example{"starter -- ./server --port 80", "on the CPUs that the container was given"},
};
inline constexpr std::array kStarterPositionals{
    Positional{.metavar = "WORD",
               .help = "the program and its arguments",
               .optional = true,
               .repeats = true},
};

}  // namespace plim::cli
