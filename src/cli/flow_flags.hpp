// Flags and examples of the flow commands, for the table of commands.
#pragma once

#include <array>

#include "cli/command.hpp"

namespace plim::cli {

inline constexpr std::array kFlowRunExamples{
    Example{"flow run job.json", "run it with one worker process per CPU"},
    Example{"flow run job.yaml --state DIR", "keep the ledger in DIR"},
    Example{"flow run --resume DIR", "continue after Ctrl-C, a crash, or failed slices"},
    Example{"flow run job.json --dry-run", "check it and show the first slices"},
};
inline constexpr std::array kFlowRunFlags{
    Flag{.name = "workers",
         .type = Type::integer,
         .metavar = "N",
         .fallback = "0",
         .help = "number of workers; 0: from the job, else one per CPU, at most 5"},
    Flag{.name = "threads",
         .type = Type::boolean,
         .fallback = "false",
         .help = "run workers as threads of this process"},
    Flag{.name = "state",
         .metavar = "DIR",
         .help = "folder of the ledger; default: temporary, removed after success",
         .live = Live::directory},
    Flag{.name = "resume",
         .metavar = "DIR",
         .help = "continue the last run of this folder, without JOB",
         .live = Live::directory},
    Flag{.name = "dry-run",
         .type = Type::boolean,
         .fallback = "false",
         .help = "only show the first 5 slices"},
    Flag{.name = "limit",
         .type = Type::integer,
         .metavar = "N",
         .fallback = "0",
         .help = "maximum number of slices, 0: all"},
    Flag{.name = "lease",
         .type = Type::duration,
         .metavar = "DURATION",
         .fallback = "30s",
         .help = "a worker that is silent for this time loses its slices",
         .rare = true},
};
inline constexpr std::array kFlowJobOptional{
    Positional{
        .metavar = "JOB", .help = "job file, JSON or YAML", .live = Live::file, .optional = true},
};

inline constexpr std::array kFlowValidateExamples{
    Example{"flow validate job.json", "all problems, and how often a record can be written"},
};
inline constexpr std::array kFlowJob{
    Positional{.metavar = "JOB", .help = "job file, JSON or YAML", .live = Live::file},
};

inline constexpr std::array kFlowOpsExamples{
    Example{"flow ops", "the built-in operations"},
    Example{"flow ops file_reader", "the options of one"},
};
inline constexpr std::array kFlowOpsPositionals{
    Positional{.metavar = "NAME", .help = "an operation", .optional = true},
};

}  // namespace plim::cli
