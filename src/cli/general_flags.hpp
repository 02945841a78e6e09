// Flags and examples of commands that belong to no part, for the table of commands.
#pragma once

#include <array>

#include "cli/command.hpp"

namespace plim::cli {

inline constexpr Flag kDryRun{
    .name = "dry-run",
    .metavar = "WHERE",
    .help = "only show what would happen; server: the API server checks it",
    .choices = "client|server",
    .bare = "client"};

inline constexpr std::array kInstallExamples{
    Example{"install servo --dry-run", "print the objects as YAML, without a cluster"},
    Example{"install servo --dry-run=server",
            "let the API server check the objects and store nothing"},
    Example{"install agent --namespace monitoring --image registry.example.org/plimsoll:0.2.0",
            "in another namespace, with another image"},
};
inline constexpr std::array kInstallFlags{
    kDryRun,
    Flag{.name = "image",
         .metavar = "IMAGE",
         .help = "image to use instead of the one in the manifests"},
};
inline constexpr std::array kInstallPositionals{
    Positional{.metavar = "ROLE",
               .help = "crds, agent, images, pools, scheduler, servo; default: all",
               .optional = true,
               .repeats = true},
};
inline constexpr std::array kUninstallExamples{
    Example{"uninstall servo", "delete the objects of install servo"},
    Example{"uninstall --dry-run", "list the objects that would be deleted"},
};
inline constexpr std::array kUninstallFlags{kDryRun};
inline constexpr Flag kTimeout{.name = "timeout",
                               .type = Type::duration,
                               .metavar = "DURATION",
                               .fallback = "30s",
                               .help = "maximum wait for the answer, 0: no limit"};

inline constexpr std::array kVersionExamples{
    Example{"version", "versions of the program, of supported Kubernetes, of the cluster"},
    Example{"version --client", "without the cluster"},
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
         .help = "maximum wait for the cluster"},
};

inline constexpr std::array kDoctorExamples{
    Example{"doctor", "what works on this machine, and what to improve"},
    Example{"doctor -o wide", "with effect and remedy of every finding"},
    Example{"doctor --host-root /host", "from a container that mounts the host there"},
    Example{"doctor --offline -o json", "machine only, for scripts"},
};
inline constexpr std::array kDoctorFlags{
    Flag{.name = "host-root",
         .metavar = "DIR",
         .fallback = "/",
         .help = "root of the host's file system",
         .live = Live::directory},
    Flag{.name = "offline", .type = Type::boolean, .fallback = "false", .help = "skip the cluster"},
    Flag{.name = "timeout",
         .type = Type::duration,
         .metavar = "DURATION",
         .fallback = "3s",
         .help = "maximum wait for the cluster"},
};

inline constexpr std::array kRawExamples{
    Example{"raw /version", "any path, with the credentials of the kubeconfig"},
    Example{"raw '/api/v1/pods?limit=5' -o name", "names of the returned objects"},
    Example{"raw /api/v1/nodes --watch -o 'jsonpath={.type} {.object.metadata.name}'",
            "one line per event"},
    Example{"raw -X POST -d pod.json /api/v1/namespaces/default/pods", "send a file, - is stdin"},
};
inline constexpr std::array kRawFlags{
    Flag{.name = "request",
         .letter = 'X',
         .metavar = "METHOD",
         .help = "HTTP method; default: GET, or POST with data",
         .choices = "GET|POST|PUT|PATCH|DELETE|HEAD|OPTIONS"},
    Flag{.name = "data",
         .letter = 'd',
         .metavar = "FILE",
         .help = "send this file, - is stdin",
         .live = Live::file},
    Flag{.name = "content-type",
         .metavar = "TYPE",
         .help = "content type of the data; default: by method and data"},
    Flag{.name = "watch",
         .letter = 'w',
         .type = Type::boolean,
         .fallback = "false",
         .help = "add watch=true and print events as they arrive"},
    kTimeout,
};
inline constexpr std::array kRawPositionals{
    Positional{"PATH", "path with query: /api/v1/nodes?limit=5"},
};

inline constexpr std::array kExplainErrorExamples{
    Example{"explain error PLM-1203", "meaning of the code and what to do"},
    Example{"explain error ANN012", "why the webhook rejected a pod"},
    Example{"explain error", "all codes"},
};
inline constexpr std::array kExplainErrorPositionals{
    Positional{
        .metavar = "CODE", .help = "such as PLM-1203", .live = Live::error_code, .optional = true},
};

inline constexpr std::array kCompletionExamples{
    Example{"completion bash > /etc/bash_completion.d/plimsoll", "for all users of this machine"},
    Example{"completion zsh > \"${fpath[1]}/_plimsoll\"", "in a folder of zsh's fpath"},
    Example{"completion fish > ~/.config/fish/completions/plimsoll.fish", "for your user"},
};
inline constexpr std::array kCompletionPositionals{
    Positional{"SHELL", "bash, zsh or fish", "bash|zsh|fish"},
};

inline constexpr std::array kManExamples{
    Example{"man /usr/local/share/man/man1", "write all manual pages to this folder"},
    Example{"man --markdown docs/reference", "write the reference as Markdown"},
};
inline constexpr std::array kManFlags{
    Flag{.name = "markdown",
         .type = Type::boolean,
         .fallback = "false",
         .help = "write Markdown instead of manual pages"},
};
inline constexpr std::array kManPositionals{
    Positional{
        .metavar = "DIR", .help = "output folder; created if missing", .live = Live::directory},
};

}  // namespace plim::cli
