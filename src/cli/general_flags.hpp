// Flags and examples of commands that belong to no part, for the one table of commands.
#pragma once

#include <array>

#include "cli/command.hpp"

namespace plim::cli {

inline constexpr Flag kDryRun{.name = "dry-run",
                              .metavar = "WHERE",
                              .help = "only say what would be done; server: have it checked there",
                              .choices = "client|server",
                              .bare = "client"};

inline constexpr std::array kInstallExamples{
    Example{"install servo --dry-run", "what would be applied, as YAML; asks no cluster"},
    Example{"install servo --dry-run=server", "what the cluster says to it, and keeps nothing of"},
    Example{"install agent --namespace monitoring --image registry.example.org/plimsoll:0.2.0",
            "in a namespace of your own, with an image of your own"},
};
inline constexpr std::array kInstallFlags{
    kDryRun,
    Flag{.name = "image",
         .metavar = "IMAGE",
         .help = "in the place of the image that the manifests name"},
};
inline constexpr std::array kInstallPositionals{
    Positional{.metavar = "ROLE",
               .help = "crds, agent, images, pools, scheduler, servo; without: all",
               .optional = true,
               .repeats = true},
};
inline constexpr std::array kUninstallExamples{
    Example{"uninstall servo", "what install had put there"},
    Example{"uninstall --dry-run", "lists every object that would go"},
};
inline constexpr std::array kUninstallFlags{kDryRun};
inline constexpr Flag kTimeout{.name = "timeout",
                               .type = Type::duration,
                               .metavar = "DURATION",
                               .fallback = "30s",
                               .help = "longest wait for the answer, 0: none"};

inline constexpr std::array kVersionExamples{
    Example{"version", "this program, the Kubernetes it supports, the cluster's version"},
    Example{"version --client", "without asking the cluster"},
    Example{"version -o json", "for scripts"},
};
inline constexpr std::array kVersionFlags{
    Flag{.name = "client",
         .type = Type::boolean,
         .fallback = "false",
         .help = "do not ask the cluster"},
    Flag{.name = "timeout",
         .type = Type::duration,
         .metavar = "DURATION",
         .fallback = "2s",
         .help = "longest wait for the cluster"},
};

inline constexpr std::array kDoctorExamples{
    Example{"doctor", "what works on this machine, and what to improve"},
    Example{"doctor -o wide", "with the effect and the remedy of every finding"},
    Example{"doctor --host-root /host", "from a container that mounts the host there"},
    Example{"doctor --offline -o json", "machine only, for scripts"},
};
inline constexpr std::array kDoctorFlags{
    Flag{.name = "host-root",
         .metavar = "DIR",
         .fallback = "/",
         .help = "where the host's file system is",
         .live = Live::directory},
    Flag{.name = "offline",
         .type = Type::boolean,
         .fallback = "false",
         .help = "leave the cluster out"},
    Flag{.name = "timeout",
         .type = Type::duration,
         .metavar = "DURATION",
         .fallback = "3s",
         .help = "longest wait for the cluster"},
};

inline constexpr std::array kRawExamples{
    Example{"raw /version", "any path, with the credentials of the kubeconfig"},
    Example{"raw '/api/v1/pods?limit=5' -o name", "the answer's objects by name"},
    Example{"raw /api/v1/nodes --watch -o 'jsonpath={.type} {.object.metadata.name}'",
            "one line per event"},
    Example{"raw -X POST -d pod.json /api/v1/namespaces/default/pods", "send a file, - is stdin"},
};
inline constexpr std::array kRawFlags{
    Flag{.name = "request",
         .letter = 'X',
         .metavar = "METHOD",
         .help = "HTTP method; GET, or POST with data",
         .choices = "GET|POST|PUT|PATCH|DELETE|HEAD|OPTIONS"},
    Flag{.name = "data",
         .letter = 'd',
         .metavar = "FILE",
         .help = "send this file, - is stdin",
         .live = Live::file},
    Flag{.name = "content-type", .metavar = "TYPE", .help = "type of the data; a fitting one"},
    Flag{.name = "watch",
         .letter = 'w',
         .type = Type::boolean,
         .fallback = "false",
         .help = "add watch=true and print events as they come"},
    kTimeout,
};
inline constexpr std::array kRawPositionals{
    Positional{"PATH", "path on the API server, with its query: /api/v1/nodes?limit=5"},
};

inline constexpr std::array kExplainErrorExamples{
    Example{"explain error PLM-1203", "what the code means and what to do"},
    Example{"explain error ANN012", "why the webhook has refused a pod"},
    Example{"explain error", "all codes"},
};
inline constexpr std::array kExplainErrorPositionals{
    Positional{
        .metavar = "CODE", .help = "such as PLM-1203", .live = Live::error_code, .optional = true},
};

inline constexpr std::array kCompletionExamples{
    Example{"completion bash > /etc/bash_completion.d/plimsoll", "for everybody on this machine"},
    Example{"completion zsh > \"${fpath[1]}/_plimsoll\"", "in a folder of zsh's fpath"},
    Example{"completion fish > ~/.config/fish/completions/plimsoll.fish", "for yourself"},
};
inline constexpr std::array kCompletionPositionals{
    Positional{"SHELL", "bash, zsh or fish", "bash|zsh|fish"},
};

inline constexpr std::array kManExamples{
    Example{"man /usr/local/share/man/man1", "write every manual page there"},
    Example{"man --markdown docs/reference", "the same as one Markdown page, cli.md"},
};
inline constexpr std::array kManFlags{
    Flag{.name = "markdown",
         .type = Type::boolean,
         .fallback = "false",
         .help = "one Markdown page instead of manual pages"},
};
inline constexpr std::array kManPositionals{
    Positional{
        .metavar = "DIR", .help = "folder to write into; made if missing", .live = Live::directory},
};

}  // namespace plim::cli
