// Flags and examples of `explain pod`, for the table of commands.
#pragma once

#include <array>

#include "cli/command.hpp"

namespace plim::cli {

inline constexpr std::array kExplainPodExamples{
    Example{"explain pod web", "why the pod is on its node"},
    Example{"explain pod shop/web --why-not node3",
            "why the pod of namespace shop is not on node3"},
    Example{"explain pod --snapshot cluster.json --pod pod.yaml",
            "where a pod would go in a cluster from a file"},
};
inline constexpr std::array kExplainPodPositionals{
    Positional{.metavar = "[NAMESPACE/]NAME", .help = "a pod of the cluster", .optional = true},
};
inline constexpr std::array kExplainPodFlags{
    Flag{.name = "scheduler",
         .metavar = "URL",
         .fallback = "https://127.0.0.1:10259",
         .help = "address of the scheduler"},
    Flag{.name = "scheduler-ca",
         .metavar = "FILE",
         .help = "certificate authority of the scheduler's certificate (default: the cluster's)",
         .live = Live::file,
         .rare = true},
    Flag{.name = "timeout",
         .type = Type::duration,
         .metavar = "DURATION",
         .fallback = "10s",
         .help = "maximum wait for the cluster and the scheduler"},
    Flag{.name = "snapshot",
         .metavar = "FILE",
         .help = "cluster from a file, in the format of kubectl get -A -o json",
         .live = Live::file},
    Flag{.name = "pod",
         .metavar = "FILE",
         .help = "pods to place, one after another; with --snapshot",
         .live = Live::file},
    Flag{.name = "config",
         .metavar = "FILE",
         .help = "the scheduler's configuration; with --snapshot",
         .live = Live::file},
    Flag{.name = "seed",
         .type = Type::integer,
         .metavar = "N",
         .help = "repeat the draws between equal nodes; with --snapshot (default: random)",
         .rare = true},
    Flag{.name = "why-not",
         .metavar = "NODE",
         .help = "show only why this node was not chosen",
         .live = Live::node},
    Flag{.name = "all-nodes",
         .type = Type::boolean,
         .fallback = "false",
         .help = "show all nodes, not only the best and a few others"},
    Flag{.name = "emulated-version",
         .metavar = "VERSION",
         .help = "decide as kube-scheduler 1.34 to 1.37; with --snapshot",
         .rare = true},
    Flag{.name = "feature-gates",
         .metavar = "NAME=BOOL,...",
         .help = "feature gates of the scheduler; with --snapshot",
         .rare = true},
};

}  // namespace plim::cli
