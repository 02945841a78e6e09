// Flags and examples of `explain pod`, for the one table of commands.
#pragma once

#include <array>

#include "cli/command.hpp"

namespace plim::cli {

inline constexpr std::array kExplainPodExamples{
    Example{"explain pod --snapshot cluster.json --pod pod.yaml",
            "where a pod would go in a cluster kept as a file"},
    Example{"explain pod --snapshot cluster.json --pod pod.yaml --why-not node3",
            "why it would not go to node3"},
};
inline constexpr std::array kExplainPodFlags{
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
