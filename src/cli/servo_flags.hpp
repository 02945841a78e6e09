// Flags and examples of the servo's commands, for the table of commands.
#pragma once

#include <array>

#include "cli/command.hpp"

namespace plim::cli {

// Flags that select the pods that are jobs. The servo measures these pods and the webhook changes
// them.
inline constexpr Flag kPodNamespaces{.name = "pod-namespaces",
                                     .metavar = "LIST",
                                     .help = "namespaces with jobs, * for all; POD_NAMESPACES"};
inline constexpr Flag kOptuneAppId{.name = "optune-app-id",
                                   .metavar = "PATH",
                                   .help = "path to the application ID in a pod; OPTUNE_APP_ID"};
inline constexpr Flag kMeasuredContainer{.name = "container",
                                         .metavar = "WHICH",
                                         .help = "measured container, by name or index (default 0)",
                                         .rare = true};

inline constexpr std::array kServoExamples{
    Example{"servo", "measure jobs of namespace default, store runs"},
    Example{"servo --pod-namespaces 'batch, nightly' --listen 127.0.0.1:8080",
            "two namespaces, reachable only from this machine"},
    Example{"servo --optune-url 'https://example.com/{acct}/{app_id}' --optune-account me",
            "also post every run"},
};
// There is no flag for the token: all users of a machine can see command lines.
inline constexpr std::array kServoFlags{
    kPodNamespaces,
    kOptuneAppId,
    Flag{.name = "optune-url", .metavar = "URL", .help = "where to post runs; OPTUNE_URL"},
    Flag{.name = "optune-account",
         .metavar = "NAME",
         .help = "value of {acct} in the URL; OPTUNE_ACCOUNT"},
    Flag{.name = "optune-auth-token-file",
         .metavar = "FILE",
         .help = "file with the bearer token; or OPTUNE_AUTH_TOKEN",
         .live = Live::file},
    Flag{.name = "sink",
         .metavar = "WHERE",
         .help = "where runs go: post, store or both (default both)",
         .choices = "post|store|both"},
    Flag{.name = "store",
         .metavar = "DIR",
         .help = "directory of runs (default /var/lib/plimsoll/servo)",
         .live = Live::directory},
    Flag{.name = "listen",
         .metavar = "ADDRESS",
         .help = "address of API and metrics (default :8080)"},
    kMeasuredContainer,
    Flag{.name = "extra",
         .type = Type::boolean,
         .fallback = "false",
         .help = "also send queue time, init time and attempts",
         .rare = true},
};

inline constexpr std::array kRunsExamples{
    Example{"runs", "the last 100 runs"},
    Example{"runs --app nightly-report --since 24h", "runs of one application in the last day"},
    Example{"runs --store /var/lib/plimsoll/servo -o json", "read the files, without the servo"},
};
inline constexpr std::array kRunsFlags{
    Flag{.name = "app", .metavar = "ID", .help = "only this application ID"},
    Flag{.name = "pod", .metavar = "NAME", .help = "only this pod"},
    Flag{.name = "since",
         .metavar = "TIME",
         .help = "only newer runs: a time, or an age such as 2h"},
    Flag{.name = "limit",
         .type = Type::integer,
         .metavar = "N",
         .fallback = "100",
         .help = "maximum number of runs"},
    Flag{.name = "url", .metavar = "URL", .help = "address of the servo; PLIMSOLL_SERVO_URL"},
    Flag{.name = "store",
         .metavar = "DIR",
         .help = "read the servo's files instead",
         .live = Live::directory},
    Flag{.name = "timeout",
         .type = Type::duration,
         .metavar = "DURATION",
         .fallback = "10s",
         .help = "maximum wait for the answer",
         .rare = true},
};

inline constexpr std::array kPathTestExamples{
    Example{"servo path-test -f pod.json", "the ID that the servo finds in this pod"},
    Example{"servo path-test --path 'metadata/labels/app' -f -", "another path, pod from stdin"},
};
inline constexpr std::array kPathTestFlags{
    Flag{.name = "path",
         .metavar = "PATH",
         .fallback = "spec/containers/0/env/[JOBID]",
         .help = "path to the application ID"},
    Flag{.name = "file",
         .letter = 'f',
         .metavar = "FILE",
         .help = "a pod as JSON or YAML; - is stdin",
         .live = Live::file},
};

}  // namespace plim::cli
