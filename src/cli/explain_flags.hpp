// Flags and examples of `explain pod`, for the one table of commands.
#pragma once

#include <array>

#include "cli/command.hpp"

namespace plim::cli {

inline constexpr std::array kExplainPodExamples{
    Example{"explain pod web", "why the pod of this name is where it is"},
    Example{"explain pod shop/web --why-not node3", "of namespace shop: why it is not on node3"},
    Example{"explain pod --snapshot cluster.json --pod pod.yaml",
            "where a pod would go in a cluster kept as a file"},
};
inline constexpr std::array kExplainPodPositionals{
    Positional{.metavar = "[NAMESPACE/]NAME", .help = "a pod of the cluster", .optional = true},
};
inline constexpr std::array kExplainPodFlags{
    Flag{.name = "scheduler",
         .metavar = "URL",
         .fallback = "https://127.0.0.1:10259",
         .help = "where the scheduler tells its decisions"},
    Flag{.name = "timeout",
         .type = Type::duration,
         .metavar = "DURATION",
         .fallback = "10s",
         .help = "how long to wait for the cluster and for the scheduler"},
    Flag{.name = "snapshot",
         .metavar = "FILE",
         .help = "decide in a cluster from a file, as kubectl get -A -o json prints it",
         .live = Live::file},
    Flag{.name = "pod",
         .metavar = "FILE",
         .help = "the pods to decide about, one after the other; with --snapshot",
         .live = Live::file},
    Flag{.name = "config",
         .metavar = "FILE",
         .help = "the scheduler's configuration; with --snapshot",
         .live = Live::file},
    Flag{.name = "why-not",
         .metavar = "NODE",
         .help = "only why this node was not taken",
         .live = Live::node},
    Flag{.name = "all-nodes",
         .type = Type::boolean,
         .fallback = "false",
         .help = "every node, not only the best and a few of the others"},
};

}  // namespace plim::cli
