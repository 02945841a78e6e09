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
