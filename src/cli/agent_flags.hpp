// Flags and examples of the agent's commands, for the table of commands.
#pragma once

#include <array>

#include "cli/command.hpp"
#include "cli/etcd_flags.hpp"
#include "cli/pools_flags.hpp"

namespace plim::cli {

inline constexpr Flag kAgentConfig{.name = "config",
                                   .letter = 'c',
                                   .metavar = "FILE",
                                   .help = "configuration file of measure; an absolute path",
                                   .live = Live::file};
inline constexpr Flag kAgentRoot{.name = "root",
                                 .letter = '0',
                                 .type = Type::boolean,
                                 .fallback = "false",
                                 .help = "allow running as root"};
inline constexpr Flag kAgentHostRoot{.name = "host-root",
                                     .metavar = "DIR",
                                     .fallback = "/",
                                     .help = "root of the host's file system",
                                     .live = Live::directory};
inline constexpr Flag kAgentCgroupRoot{
    .name = "cgroup-root", .metavar = "PATH", .help = "the kubelet's own --cgroup-root"};

inline constexpr std::array kAgentRunExamples{
    Example{"agent run -c /etc/wca/config.yaml --root", "as in a DaemonSet"},
    Example{"agent -c /etc/wca/config.yaml -0 --once", "one iteration, then exit"},
    Example{"agent --images --poolconfigs /etc/cpu-pooler --node-name n1",
            "report images and assign CPUs in one process"},
};
inline constexpr std::array kAgentRunFlags{
    kAgentConfig,
    kAgentRoot,
    Flag{.name = "once",
         .type = Type::boolean,
         .fallback = "false",
         .help = "one iteration, then exit"},
    Flag{.name = "iterations",
         .type = Type::integer,
         .metavar = "N",
         .fallback = "0",
         .help = "exit after N iterations; 0: never",
         .rare = true},
    Flag{.name = "metrics-listen",
         .metavar = "ADDRESS",
         .help = "address of /metrics, /healthz, /readyz and /state"},
    kAgentHostRoot,
    kAgentCgroupRoot,
    Flag{.name = "dry-run",
         .type = Type::boolean,
         .fallback = "false",
         .help = "change no cgroup, offer no pool, publish no image; still measure"},
    Flag{.name = "run-dir",
         .metavar = "DIR",
         .help = "directory of locks and records; /run/plimsoll below the host root",
         .live = Live::directory,
         .rare = true},
    Flag{.name = "kubelet-dir",
         .metavar = "DIR",
         .help = "kubelet directory; /var/lib/kubelet below the host root",
         .live = Live::directory,
         .rare = true},
    Flag{.name = "node-name",
         .metavar = "NAME",
         .help = "name of this node on the API server",
         .live = Live::node,
         .rare = true},
    Flag{.name = "modules",
         .metavar = "LIST",
         .help = "measure, pools, images; default: modules with flags set",
         .rare = true},
    Flag{.name = kPoolConfigs.name,
         .metavar = kPoolConfigs.metavar,
         .help = "assign CPUs of these pools; configmap:NS/NAME",
         .live = kPoolConfigs.live},
    rarely(kPoolsCpusetRoot),
    rarely(kPoolsReconcileInterval),
    rarely(kPoolsCpuListFormat),
    rarely(kPoolsStrict),
    rarely(kPoolsNodeReport),
    kPoolsAnnotate,
    kPoolsAllowStatic,
    kPoolsStarterDelivery,
    kPoolsStarterPath,
    kPoolsParts,
    Flag{.name = "images",
         .type = Type::boolean,
         .fallback = "false",
         .help = "publish images and layers of this node"},
    Flag{.name = "cri-endpoint",
         .metavar = "SOCKET",
         .help = "socket of the container runtime; default: detect",
         .rare = true},
    Flag{.name = "publish",
         .metavar = "LIST",
         .fallback = "crd",
         .help = "where to publish images: crd, annotation, etcd",
         .rare = true},
    kEtcdEndpoints,
    kEtcdCaCert,
    kEtcdCert,
    kEtcdKey,
    kEtcdCluster,
    Flag{.name = "etcd-lease",
         .type = Type::duration,
         .metavar = "DURATION",
         .fallback = "15m",
         .help = "how long keys stay after the agent stops",
         .rare = true},
    Flag{.name = "images-interval",
         .type = Type::duration,
         .metavar = "DURATION",
         .fallback = "10s",
         .help = "how often to ask the runtime, +-20 %",
         .rare = true},
    Flag{.name = "images-resend",
         .type = Type::duration,
         .metavar = "DURATION",
         .fallback = "8m",
         .help = "how often to publish without a change",
         .rare = true},
    Flag{.name = "version",
         .type = Type::boolean,
         .fallback = "false",
         .help = "print the version, same as -v",
         .rare = true},
    Flag{.name = "register",
         .letter = 'r',
         .metavar = "CLASS",
         .help = "not supported: components are built in",
         .hidden = true},
};

inline constexpr std::array kAgentCheckExamples{
    Example{"agent check -c /etc/wca/config.yaml", "every mistake with line and column"},
};
inline constexpr std::array kAgentCheckFlags{kAgentConfig};

inline constexpr std::array kAgentTopExamples{
    Example{"agent top --once", "ask the agents of the local cluster"},
    Example{"agent top -c /etc/wca/config.yaml --once", "measure on this machine, twice"},
    Example{"agent top --url http://127.0.0.1:9101 --sort mem", "ask a running agent"},
};
inline constexpr std::array kAgentTopFlags{
    kAgentConfig,
    kAgentRoot,
    Flag{.name = "url", .metavar = "URL", .help = "address of a running agent; PLIMSOLL_AGENT_URL"},
    Flag{
        .name = "once", .type = Type::boolean, .fallback = "false", .help = "one table, then exit"},
    Flag{.name = "sort",
         .metavar = "COLUMN",
         .fallback = "cpu",
         .help = "sort by cpu, mem, psi or throttle",
         .choices = "cpu|mem|psi|throttle"},
    kAgentHostRoot,
    kAgentCgroupRoot,
};

}  // namespace plim::cli
