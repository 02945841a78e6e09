// Flags and examples of the servo's commands, for the one table of commands.
#pragma once

#include <array>

#include "cli/command.hpp"

namespace plim::cli {

// Which pods are jobs: for the servo, and for the webhook, which changes them.
inline constexpr Flag kPodNamespaces{.name = "pod-namespaces",
                                     .metavar = "LIST",
                                     .help = "where to look for jobs, * for all; POD_NAMESPACES"};
inline constexpr Flag kOptuneAppId{.name = "optune-app-id",
                                   .metavar = "PATH",
                                   .help = "where a pod's application id is; OPTUNE_APP_ID"};
inline constexpr Flag kMeasuredContainer{.name = "container",
                                         .metavar = "WHICH",
                                         .help = "measured container, by name or index (default 0)",
                                         .rare = true};

inline constexpr std::array kServoExamples{
    Example{"servo", "jobs of namespace default; runs are kept in the store"},
    Example{"servo --pod-namespaces 'batch, nightly' --listen 127.0.0.1:8080",
            "two namespaces, reached from this machine only"},
    Example{"servo --optune-url 'https://example.com/{acct}/{app_id}' --optune-account me",
            "send every run there as well"},
};
// There is no flag for the token: command lines are for everybody to see.
inline constexpr std::array kServoFlags{
    kPodNamespaces,
    kOptuneAppId,
    Flag{.name = "optune-url", .metavar = "URL", .help = "where to post runs; OPTUNE_URL"},
    Flag{.name = "optune-account",
         .metavar = "NAME",
         .help = "what {acct} stands for; OPTUNE_ACCOUNT"},
    Flag{.name = "optune-auth-token-file",
         .metavar = "FILE",
         .help = "bearer token for posts, or OPTUNE_AUTH_TOKEN",
         .live = Live::file},
    Flag{.name = "sink",
         .metavar = "WHERE",
         .help = "post, store or both (default both)",
         .choices = "post|store|both"},
    Flag{.name = "store",
         .metavar = "DIR",
         .help = "where runs are kept (default /var/lib/plimsoll/servo)",
         .live = Live::directory},
    Flag{.name = "listen", .metavar = "ADDRESS", .help = "API and metrics (default :8080)"},
    kMeasuredContainer,
    Flag{.name = "extra",
         .type = Type::boolean,
         .fallback = "false",
         .help = "send queue time, init time and attempts too",
         .rare = true},
};

inline constexpr std::array kRunsExamples{
    Example{"runs", "the last 100 runs that the servo has seen"},
    Example{"runs --app nightly-report --since 24h", "of one application, since yesterday"},
    Example{"runs --store /var/lib/plimsoll/servo -o json", "from the files, without the servo"},
};
inline constexpr std::array kRunsFlags{
    Flag{.name = "app", .metavar = "ID", .help = "of this application id only"},
    Flag{.name = "pod", .metavar = "NAME", .help = "of this pod only"},
    Flag{.name = "since", .metavar = "TIME", .help = "seen since then: a time, or an age as 2h"},
    Flag{.name = "limit",
         .type = Type::integer,
         .metavar = "N",
         .fallback = "100",
         .help = "at most so many runs"},
    Flag{.name = "url", .metavar = "URL", .help = "address of the servo; PLIMSOLL_SERVO_URL"},
    Flag{.name = "store",
         .metavar = "DIR",
         .help = "read the servo's files instead",
         .live = Live::directory},
    Flag{.name = "timeout",
         .type = Type::duration,
         .metavar = "DURATION",
         .fallback = "10s",
         .help = "longest wait for the answer",
         .rare = true},
};

inline constexpr std::array kPathTestExamples{
    Example{"servo path-test -f pod.json", "the id that the servo would find in this pod"},
    Example{"servo path-test --path 'metadata/labels/app' -f -", "another path, pod from stdin"},
};
inline constexpr std::array kPathTestFlags{
    Flag{.name = "path",
         .metavar = "PATH",
         .fallback = "spec/containers/0/env/[JOBID]",
         .help = "path to the application id"},
    Flag{.name = "file",
         .letter = 'f',
         .metavar = "FILE",
         .help = "a pod as JSON or YAML, - is stdin",
         .live = Live::file},
};

}  // namespace plim::cli
