// Flags and examples of the agent's commands, for the one table of commands.
#pragma once

#include <array>

#include "cli/command.hpp"
#include "cli/etcd_flags.hpp"
#include "cli/pools_flags.hpp"

namespace plim::cli {

inline constexpr Flag kAgentConfig{.name = "config",
                                   .letter = 'c',
                                   .metavar = "FILE",
                                   .help = "what to measure; an absolute path",
                                   .live = Live::file};
inline constexpr Flag kAgentRoot{.name = "root",
                                 .letter = '0',
                                 .type = Type::boolean,
                                 .fallback = "false",
                                 .help = "run as root on purpose"};
inline constexpr Flag kAgentHostRoot{.name = "host-root",
                                     .metavar = "DIR",
                                     .fallback = "/",
                                     .help = "where the host's file system is",
                                     .live = Live::directory};
inline constexpr Flag kAgentCgroupRoot{
    .name = "cgroup-root", .metavar = "PATH", .help = "the kubelet's own --cgroup-root"};

inline constexpr std::array kAgentRunExamples{
    Example{"agent run -c /etc/wca/config.yaml --root", "as a DaemonSet does"},
    Example{"agent -c /etc/wca/config.yaml -0 --once", "one iteration, then the end"},
    Example{"agent --images --poolconfigs /etc/cpu-pooler --node-name n1",
            "tell of images and give out CPUs, in one process"},
};
inline constexpr std::array kAgentRunFlags{
    kAgentConfig,
    kAgentRoot,
    Flag{.name = "once",
         .type = Type::boolean,
         .fallback = "false",
         .help = "one iteration, then end"},
    Flag{.name = "iterations",
         .type = Type::integer,
         .metavar = "N",
         .fallback = "0",
         .help = "end after so many; 0: go on",
         .rare = true},
    Flag{.name = "metrics-listen",
         .metavar = "ADDRESS",
         .help = "serve /metrics, /healthz, /readyz and /state there"},
    kAgentHostRoot,
    kAgentCgroupRoot,
    Flag{.name = "dry-run",
         .type = Type::boolean,
         .fallback = "false",
         .help = "write no cgroup, offer no pool, publish no images; metrics as ever"},
    Flag{.name = "run-dir",
         .metavar = "DIR",
         .help = "for locks and records; /run/plimsoll below the host root",
         .live = Live::directory,
         .rare = true},
    Flag{.name = "kubelet-dir",
         .metavar = "DIR",
         .help = "of the kubelet; /var/lib/kubelet below the host root",
         .live = Live::directory,
         .rare = true},
    Flag{.name = "node-name",
         .metavar = "NAME",
         .help = "this node, for asking the API server",
         .live = Live::node,
         .rare = true},
    Flag{.name = "modules",
         .metavar = "LIST",
         .help = "what to run: measure, pools, images; else what flags ask for",
         .rare = true},
    Flag{.name = kPoolConfigs.name,
         .metavar = kPoolConfigs.metavar,
         .help = "give out the CPUs of these pools; configmap:NS/NAME",
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
         .help = "publish which images and layers this node holds"},
    Flag{.name = "cri-endpoint",
         .metavar = "SOCKET",
         .help = "of the container runtime; found by itself",
         .rare = true},
    Flag{.name = "publish",
         .metavar = "LIST",
         .fallback = "crd",
         .help = "where images are told: crd, annotation, etcd",
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
         .help = "how long the keys outlive the agent",
         .rare = true},
    Flag{.name = "images-interval",
         .type = Type::duration,
         .metavar = "DURATION",
         .fallback = "10s",
         .help = "ask the runtime so often, give or take a fifth",
         .rare = true},
    Flag{.name = "images-resend",
         .type = Type::duration,
         .metavar = "DURATION",
         .fallback = "8m",
         .help = "publish so often though nothing changed",
         .rare = true},
    Flag{.name = "version",
         .type = Type::boolean,
         .fallback = "false",
         .help = "print the version, as -v",
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
    Example{"agent top -c /etc/wca/config.yaml --once", "measure here, twice"},
    Example{"agent top --url http://127.0.0.1:9101 --sort mem", "ask an agent that runs"},
};
inline constexpr std::array kAgentTopFlags{
    kAgentConfig,
    kAgentRoot,
    Flag{.name = "url", .metavar = "URL", .help = "of an agent that runs; PLIMSOLL_AGENT_URL"},
    Flag{.name = "once", .type = Type::boolean, .fallback = "false", .help = "one table, then end"},
    Flag{.name = "sort",
         .metavar = "COLUMN",
         .fallback = "cpu",
         .help = "cpu, mem, psi or throttle",
         .choices = "cpu|mem|psi|throttle"},
    kAgentHostRoot,
    kAgentCgroupRoot,
};

}  // namespace plim::cli
