// The table of commands. To add a command, add a row here and its function to commands.hpp.
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "cli/agent_flags.hpp"
#include "cli/command.hpp"
#include "cli/commands.hpp"
#include "cli/explain_flags.hpp"
#include "cli/flow_flags.hpp"
#include "cli/general_flags.hpp"
#include "cli/local_flags.hpp"
#include "cli/pools_flags.hpp"
#include "cli/scheduler_flags.hpp"
#include "cli/servo_flags.hpp"
#include "cli/webhook_flags.hpp"

namespace plim::cli {
namespace {

constexpr std::array kGlobalFlags{
    Flag{.name = "kubeconfig",
         .metavar = "FILE",
         .help = "use only this kubeconfig file",
         .live = Live::file},
    Flag{.name = "context",
         .metavar = "NAME",
         .help = "context of the kubeconfig",
         .live = Live::context},
    Flag{.name = "cluster",
         .metavar = "NAME",
         .help = "cluster of the kubeconfig",
         .live = Live::cluster},
    Flag{.name = "user", .metavar = "NAME", .help = "user of the kubeconfig", .live = Live::user},
    Flag{.name = "server", .letter = 's', .metavar = "URL", .help = "address of the API server"},
    Flag{.name = "namespace",
         .letter = 'n',
         .metavar = "NAME",
         .help = "namespace to use",
         .live = Live::ns},
    Flag{.name = "all-namespaces",
         .letter = 'A',
         .type = Type::boolean,
         .fallback = "false",
         .help = "use all namespaces"},
    Flag{.name = "output",
         .letter = 'o',
         .metavar = "FORMAT",
         .help = "output format; --help of a command lists its formats"},
    Flag{.name = "json", .type = Type::boolean, .fallback = "false", .help = "same as -o json"},
    Flag{.name = "no-headers",
         .type = Type::boolean,
         .fallback = "false",
         .help = "print tables without the header line"},
    Flag{.name = "quiet",
         .letter = 'q',
         .type = Type::boolean,
         .fallback = "false",
         .help = "print only errors on standard error"},
    Flag{.name = "v",
         .letter = 'v',
         .type = Type::integer,
         .metavar = "N",
         .fallback = "0",
         .help = "verbosity: 1 logs more, 4 logs every request"},
    Flag{.name = "log-level",
         .metavar = "LEVEL",
         .help = "log level; overrides -q and -v",
         .choices = "debug|info|warn|error|off"},
    Flag{.name = "log-format",
         .metavar = "FORMAT",
         .fallback = "text",
         .help = "format of log lines: text or json",
         .choices = "text|json"},
    Flag{.name = "color",
         .metavar = "WHEN",
         .fallback = "auto",
         .help = "use colors: auto, always or never",
         .choices = "auto|always|never"},
    Flag{.name = "help",
         .letter = 'h',
         .type = Type::boolean,
         .fallback = "false",
         .help = "show help with examples"},
};

constexpr std::string_view kStatusFormats = "table|wide|json|yaml|name|jsonpath=|custom-columns=";
constexpr std::string_view kAllFormats = "table|wide|json|yaml|jsonpath=|custom-columns=";

constexpr std::array kHelpPositionals{
    Positional{.metavar = "COMMAND",
               .help = "a command of one or two words",
               .live = Live::command,
               .optional = true,
               .repeats = true},
};
constexpr std::array kCompletePositionals{
    Positional{
        .metavar = "WORD", .help = "words of a command line", .optional = true, .repeats = true},
};

constexpr std::array kGroups{
    Group{"node", "Add, remove, stop, start and list nodes of the local cluster"},
    Group{"images", "Show the images and layers of every node"},
    Group{"agent", "Measure what pods and cgroups of this node use"},
    Group{"flow", "Run data jobs that process slices in parallel"},
    Group{"store", "Inspect the store of a stopped local cluster"},
};

constexpr std::array kCommands{
    Command{.name = "up",
            .summary = "Start a Kubernetes cluster on this machine",
            .detail = "Runs store, API server, controllers, scheduler and nodes in one process, "
                      "for trials and tests. Without --detach it stays in the foreground, prints "
                      "each step with its time, and stops with Ctrl-C. Standard output has one "
                      "line, which sets KUBECONFIG: eval \"$(plimsoll up --detach)\". It does not "
                      "change your own kubeconfig unless you pass --merge-kubeconfig.",
            .examples = kUpExamples,
            .flags = kUpFlags,
            .exit_notes = "3 already running, 5 not ready within --wait",
            .run = run_up},
    Command{.name = "down",
            .summary = "Stop the local cluster and keep its objects",
            .examples = kDownExamples,
            .flags = kDownFlags,
            .exit_notes = "0 also if it is not running, 5 timed out",
            .run = run_down},
    Command{.name = "status",
            .summary = "Show all local clusters, or one of them",
            .examples = kStatusExamples,
            .flags = kStatusFlags,
            .formats = kStatusFormats,
            .exit_notes = "with --name: 1 stopped, 4 not found",
            .run = run_status},
    Command{.name = "reset",
            .summary = "Stop the local cluster and remove all its files",
            .examples = kResetExamples,
            .flags = kResetFlags,
            .run = run_reset,
            .minor = true},
    Command{.name = "node add",
            .summary = "Add nodes to the local cluster",
            .detail = "The nodes come back with every start until you remove them.",
            .examples = kNodeAddExamples,
            .flags = kNodeAddFlags,
            .positionals = kNodeNamesOptional,
            .exit_notes = "3 a node with this name exists",
            .run = run_node_add},
    Command{.name = "node rm",
            .summary = "Remove nodes from the local cluster; pods stop within their grace period",
            .examples = kNodeRmExamples,
            .flags = kNodeFlags,
            .positionals = kNodeNames,
            .exit_notes = "4 no such node",
            .run = run_node_rm},
    Command{.name = "node stop",
            .summary = "Stop nodes as by a power failure, without notice to the API",
            .examples = kNodeStopExamples,
            .flags = kNodeFlags,
            .positionals = kNodeNames,
            .exit_notes = "4 no such node",
            .run = run_node_stop},
    Command{.name = "node start",
            .summary = "Start stopped nodes",
            .examples = kNodeStartExamples,
            .flags = kNodeFlags,
            .positionals = kNodeNames,
            .exit_notes = "4 no such node",
            .run = run_node_start},
    Command{.name = "node ls",
            .summary = "List the nodes of the local cluster and their state on this machine",
            .examples = kNodeLsExamples,
            .flags = kNameFlags,
            .formats = kAllFormats,
            .run = run_node_ls},
    Command{.name = "node exec",
            .summary = "Run a program that sees a node's directory as /var/lib/kubelet",
            .detail =
                "For device plugins with a fixed path /var/lib/kubelet. Needs root: the program "
                "runs in its own mount namespace, which has the node's directory at that path. "
                "CONTAINER_RUNTIME_ENDPOINT names the runtime of the node, and PATH has a crictl.",
            .examples = kNodeExecExamples,
            .flags = kNameFlags,
            .positionals = kNodeExecPositionals,
            .exit_notes = "that of the program; 4 no such node",
            .run = run_node_exec},
    Command{.name = "node cp",
            .summary = "Copy a file to a node of the local cluster",
            .detail = "It replaces docker cp, which kind needs for this. The scheduler reads its "
                      "configuration there if the file of up --config has no extraMounts for it. "
                      "hostPath volumes with this path get the copy.",
            .examples = kNodeCpExamples,
            .flags = kNameFlags,
            .positionals = kNodeCpPositionals,
            .exit_notes = "4 no such node",
            .run = run_node_cp},
    Command{
        .name = "images",
        .summary = "Show the images and layers of every node",
        .detail =
            "Prints one line for each name, with sizes as crictl prints them. Reports of plimsoll "
            "agent --images are complete and have layers. Without an agent, or if its report is "
            "older than ten minutes, the list comes from the status of the node: the 50 largest "
            "images with five names each. The column SOURCE shows the origin and AGE the age of "
            "the report. -o wide adds how many bytes of an image other images of the node share.",
        .examples = kImagesListExamples,
        .flags = kImagesListFlags,
        .formats = kAllFormats,
        .exit_notes = "4 no such node",
        .run = run_images},
    Command{.name = "images ls",
            .summary = "Same as images",
            .examples = kImagesLsExamples,
            .flags = kImagesListFlags,
            .formats = kAllFormats,
            .exit_notes = "4 no such node",
            .run = run_images,
            .hidden = true},
    Command{.name = "images load",
            .summary = "Put an image on nodes without pulling it",
            .examples = kImagesLoadExamples,
            .flags = kImagesFlags,
            .positionals = kImagesPositionals,
            .exit_notes = "4 no such node or image",
            .run = run_images_load,
            .minor = true},
    Command{.name = "images rm",
            .summary = "Remove an image from nodes",
            .examples = kImagesRmExamples,
            .flags = kImagesFlags,
            .positionals = kImagesPositionals,
            .exit_notes = "4 no such node or image",
            .run = run_images_rm,
            .minor = true},
    Command{.name = "images pull",
            .summary = "Pull an image to nodes, at the simulated speed",
            .examples = kImagesPullExamples,
            .flags = kImagesFlags,
            .positionals = kImagesPositionals,
            .exit_notes = "4 no such node or image",
            .run = run_images_pull,
            .minor = true},
    Command{.name = "store dump",
            .summary = "Print the objects in the store of a local cluster",
            .detail = "Prints one stored object per line, sorted by key. Hides the data of Secrets "
                      "unless you pass --show-secrets.",
            .examples = kStoreDumpExamples,
            .flags = kStoreDumpFlags,
            .positionals = kStoreDumpPositionals,
            .run = run_store_dump},
    Command{.name = "store verify",
            .summary = "Read the whole store of a local cluster and check it for damage",
            .detail =
                "An incomplete record at the end of the log is not damage: the next start removes "
                "it. To repair damage before the end, you have to drop everything after it.",
            .examples = kStoreVerifyExamples,
            .flags = kStoreVerifyFlags,
            .formats = kAllFormats,
            .exit_notes = "1 damaged, 4 no such cluster",
            .run = run_store_verify},
    Command{.name = "store compact",
            .summary = "Write a snapshot of the store and delete its log",
            .examples = kStoreCompactExamples,
            .flags = kNameFlags,
            .formats = kAllFormats,
            .exit_notes = "3 the cluster is running, 4 no such cluster",
            .run = run_store_compact},
    Command{
        .name = "agent run",
        .summary = "Run the node agent: measure tasks, assign CPUs, report images",
        .detail =
            "A task is a pod, or a cgroup on a machine without an orchestrator. The agent logs to "
            "standard output, because the default storage uses standard error. The flags of "
            "Intel's Workload Collocation Agent work: -c, -l, -0, -v. The word run is optional. On "
            "SIGHUP the agent rereads the configuration; if it is broken, the agent reports it and "
            "keeps the old one. With --images it publishes the images and layers of the container "
            "runtime. With --poolconfigs it does the same as pools agent. These modules run alone "
            "or together in one process with one address. Without -c the agent does not measure, "
            "and root needs no --root. A module that fails restarts while the others continue; the "
            "only module ends the process.",
        .examples = kAgentRunExamples,
        .flags = kAgentRunFlags,
        .exit_notes =
            "1 configuration or start failed, 2 usage or root without --root, 78 as pools agent",
        .run = run_agent},
    Command{.name = "agent check",
            .summary = "Check a configuration file and print it with all defaults",
            .examples = kAgentCheckExamples,
            .flags = kAgentCheckFlags,
            .exit_notes = "1 the file is missing or has mistakes",
            .run = run_agent_check},
    Command{.name = "agent top",
            .summary = "Show what every task of this node uses now",
            .examples = kAgentTopExamples,
            .flags = kAgentTopFlags,
            .formats = kAllFormats,
            .run = run_agent_top},
    Command{.name = "pools",
            .summary = "Show CPU pools: free CPUs, holders, and a map of the CPUs",
            .detail =
                "Prints a table of pools and a map with a character for each CPU, by NUMA node and "
                "last-level cache: E free and exclusive, a letter for each holder, s shared, . "
                "default pool, - kept idle, x offline, ! exclusive, but a runnable process of the "
                "host may use it. Asks the agents of the local cluster or the agent at --url. On "
                "another cluster --node reads the NodeReport. Otherwise it looks at this machine.",
            .examples = kPoolsExamples,
            .flags = kPoolsFlags,
            .formats = kAllFormats,
            .run = run_pools},
    Command{.name = "pools status",
            .summary = "Same as pools",
            .flags = kPoolsFlags,
            .formats = kAllFormats,
            .run = run_pools,
            .hidden = true},
    Command{.name = "pools agent",
            .summary = "Assign CPUs of this node's pools and keep containers on them",
            .detail = "Runs a device plugin for every pool and sets the cpusets of all containers. "
                      "The flags of CPU-Pooler's programs work. The agent rereads the "
                      "configuration when files change and on SIGHUP. If the new one has mistakes, "
                      "the agent reports them and keeps the old one.",
            .examples = kPoolsAgentExamples,
            .flags = kPoolsAgentFlags,
            .exit_notes = "1 configuration or start failed, 78 the kubelet's CPU manager is static",
            .run = run_pools_agent,
            .minor = true},
    Command{.name = "pools validate",
            .summary = "Check a pool configuration against the CPUs of a machine",
            .detail = "Reads files, directories of a mounted ConfigMap, or the manifest of a "
                      "ConfigMap, in all formats of CPU-Pooler. Reports all mistakes at once, with "
                      "file, line, column, pool and CPUs.",
            .examples = kPoolsValidateExamples,
            .flags = kPoolsValidateFlags,
            .positionals = kPoolsValidatePositionals,
            .formats = kAllFormats,
            .exit_notes = "1 the configuration has mistakes, 4 no such file",
            .run = run_pools_validate,
            .minor = true},
    Command{.name = "pools schema",
            .summary = "Print the JSON Schema of the pod annotation <base>/cpus",
            .detail = "Draft 7, for editors and for checks before you create a pod. Only the "
                      "webhook finds contradictions to the pod itself.",
            .examples = kPoolsSchemaExamples,
            .run = run_pools_schema,
            .minor = true},
    Command{
        .name = "pools install-starter",
        .summary = "Copy plimsoll-starter to the host, for pinned containers",
        .detail =
            "Copies it under the given name and under its own, atomically. Keeps a newer version.",
        .examples = kPoolsInstallStarterExamples,
        .flags = kPoolsInstallStarterFlags,
        .run = run_pools_install_starter,
        .minor = true},
    Command{.name = "starter",
            .summary = "Start the processes of a container on the CPUs of their pools",
            .detail =
                "Runs plimsoll-starter, also called process-starter. The webhook makes this static "
                "program the entry point of pinned containers. If the annotation nokia.k8s.io/cpus "
                "of the pod names the container, the starter starts the listed processes, each on "
                "CPUs of its pool. Otherwise it starts the given command on all CPUs of the "
                "container. First it waits for the container's cpuset (PLIMSOLL_CPUSET_WAIT, 30s; "
                "0: do not wait). As the parent of several processes it forwards signals and reaps "
                "orphans. After a stop signal the processes have PLIMSOLL_STOP_GRACE (10s) to end.",
            .examples = kStarterExamples,
            .positionals = kStarterPositionals,
            .exit_notes =
                "that of the program; 124 late cpuset, 125 no start, 126 and 127 as in a shell",
            .run = run_starter,
            .minor = true},
    Command{.name = "webhook",
            .summary = "Run the admission webhook for pods",
            .detail =
                "The API server calls the webhook before it creates pods. /mutating-pods adds to "
                "pods that request CPUs of pools what they need, and rejects a pod with a code if "
                "its annotation contradicts its requests. /mutating-jobs marks jobs for the servo "
                "and adds its monitor; it never rejects a pod, and takes the servo's variables. "
                "The webhook rereads certificate and pool files when they change and on SIGHUP; "
                "open connections stay. It also serves /healthz, /readyz and /metrics.",
            .examples = kWebhookExamples,
            .flags = kWebhookFlags,
            .exit_notes = "0 after SIGTERM or SIGINT, 1 bad files or no start, 3 internal error",
            .run = run_webhook},
    Command{.name = "webhook certs",
            .summary = "Create and renew the certificates of the webhook",
            .detail =
                "Creates an authority for ten years and a certificate for ninety days, in a Secret "
                "of namespace kube-system, or of -n. Renews them after two thirds of their "
                "lifetime. Writes the authority to the webhook configuration as caBundle and keeps "
                "the previous one there. webhook --self-signed does the same while it runs.",
            .examples = kWebhookCertsExamples,
            .flags = kWebhookCertsFlags,
            .run = run_webhook_certs,
            .minor = true},
    Command{.name = "scheduler",
            .summary = "Run the scheduler, as a replacement for kube-scheduler",
            .detail =
                "Takes kube-scheduler's command line and configuration: KubeSchedulerConfiguration "
                "v1, and its betas, which it converts. It rereads the file when it changes and on "
                "SIGHUP; if the new one is broken, the old one stays in effect. With -v 10 it logs "
                "the score of every plugin for every node, as kube-scheduler does. It accepts "
                "flags without effect, so a static pod needs only another image.",
            .examples = kSchedulerExamples,
            .flags = kSchedulerFlags,
            .exit_notes =
                "0 after SIGTERM or SIGINT, 1 bad settings, no start or a lost lease, 2 usage",
            .run = run_scheduler},
    Command{.name = "servo",
            .summary = "Measure run times of jobs, store them and post them",
            .detail = "A pod with an application ID is a job. When its container ends, the servo "
                      "stores how long it ran, and posts it if you configure an address. The token "
                      "for posts comes from OPTUNE_AUTH_TOKEN or a file, never from the command "
                      "line. A flag overrides the variable in its help text. The servo stops with "
                      "SIGTERM or Ctrl-C. It sends unsent runs after the next start.",
            .examples = kServoExamples,
            .flags = kServoFlags,
            .exit_notes = "0 after SIGTERM or SIGINT, 1 bad settings or no start, 3 internal error",
            .run = run_servo},
    Command{.name = "servo path-test",
            .summary = "Test a path to the application ID on a pod",
            .detail =
                "'/' separates the elements: a member of a map, an index of a list, [name] for "
                "the value of the entry with that name, [name,k,v] for other members than name "
                "and value, or a key in double quotes. '|' separates several paths.",
            .examples = kPathTestExamples,
            .flags = kPathTestFlags,
            .exit_notes = "0 found, 1 the pod has no ID there, 2 the path is wrong",
            .run = run_servo_path_test,
            .minor = true},
    Command{.name = "servo history",
            .summary = "Show finished runs, newest first; same as runs",
            .flags = kRunsFlags,
            .formats = kAllFormats,
            .run = run_runs,
            .hidden = true},
    Command{.name = "runs",
            .summary = "Show finished runs of jobs, newest first",
            .detail = "Asks the servo at --url, else the servo of the local cluster, else its "
                      "Service through the API server. With --store it reads the servo's files.",
            .examples = kRunsExamples,
            .flags = kRunsFlags,
            .formats = kAllFormats,
            .run = run_runs},
    Command{.name = "flow run",
            .summary = "Run a job file on this machine, in slices and worker processes",
            .detail = "Needs neither server nor configuration. It records every slice before a "
                      "worker gets it. So --resume continues a run that was interrupted or killed "
                      "or has failed slices. Progress goes to standard error. Standard output has "
                      "the output of the operation stdout, or with -o json one event per line.",
            .examples = kFlowRunExamples,
            .flags = kFlowRunFlags,
            .positionals = kFlowJobOptional,
            .formats = "text|json",
            .exit_notes = "0 completed, 1 slices failed, 2 invalid job, 130 interrupted",
            .run = run_flow_run},
    Command{.name = "flow validate",
            .summary = "Check a job file and show how often a record can be written",
            .examples = kFlowValidateExamples,
            .positionals = kFlowJob,
            .exit_notes = "2 the job is invalid or missing",
            .run = run_flow_validate},
    Command{.name = "flow ops",
            .summary = "List the operations, or the options of one",
            .examples = kFlowOpsExamples,
            .positionals = kFlowOpsPositionals,
            .formats = kAllFormats,
            .exit_notes = "4 no such operation",
            .run = run_flow_ops},
    Command{.name = "install",
            .summary = "Install parts of Plimsoll on a cluster",
            .detail = "Applies the objects of deploy/ as they were when this program was built; "
                      "without a role, the objects of all roles. Creates missing namespaces. Use "
                      "--dry-run first to see permissions and places of the objects.",
            .examples = kInstallExamples,
            .flags = kInstallFlags,
            .positionals = kInstallPositionals,
            .run = run_install},
    Command{.name = "uninstall",
            .summary = "Remove parts of Plimsoll from a cluster; namespaces stay",
            .examples = kUninstallExamples,
            .flags = kUninstallFlags,
            .positionals = kInstallPositionals,
            .run = run_uninstall,
            .minor = true},
    Command{.name = "doctor",
            .summary = "Check what works on this machine, and with which restrictions",
            .detail =
                "Checks the kernel, cgroups, perf, pressure, resctrl, permissions, the kubelet, "
                "container runtimes, the clock, and whether the cluster answers. Each finding is "
                "ok, degraded (works with restrictions), absent (nothing here needs it) or failed.",
            .examples = kDoctorExamples,
            .flags = kDoctorFlags,
            .formats = kAllFormats,
            .exit_notes = "0 no check failed, 1 a check failed",
            .run = run_doctor},
    Command{.name = "raw",
            .summary = "Send any request to the API server and print the answer",
            .detail = "Without -o it prints the body unchanged. With -o it parses the body as JSON "
                      "first. A watch prints one event per line until it ends or is interrupted.",
            .examples = kRawExamples,
            .flags = kRawFlags,
            .positionals = kRawPositionals,
            .formats = "raw|json|yaml|name|jsonpath=|custom-columns=",
            .exit_notes = "4 not found, 5 timed out",
            .run = run_raw,
            .minor = true},
    Command{.name = "explain pod",
            .summary = "Show why a pod is on its node and not on another",
            .detail = "Asks the scheduler for its last decision about the pod. If the scheduler "
                      "does not answer, the annotation plimsoll.io/decision has a shorter record. "
                      "With --snapshot it reads a cluster from a file and decides like the "
                      "scheduler. It places several pods one after another; each decision sees the "
                      "pods before it. A pod of the file that has a node counts as placed.",
            .examples = kExplainPodExamples,
            .flags = kExplainPodFlags,
            .positionals = kExplainPodPositionals,
            .formats = "table|json|yaml|jsonpath=",
            .exit_notes =
                "1 failed, 2 usage or unusable file, 4 no such file, pod, decision or node, "
                "5 timed out",
            .run = run_explain_pod,
            .minor = true},
    Command{.name = "explain error",
            .summary = "Explain an error code and what to do",
            .examples = kExplainErrorExamples,
            .positionals = kExplainErrorPositionals,
            .formats = kAllFormats,
            .exit_notes = "4 unknown code",
            .run = run_explain_error,
            .minor = true},
    Command{.name = "version",
            .summary = "Show the versions of the program, of Kubernetes and of the cluster",
            .detail = "It is not an error if the cluster does not answer. If its version is not "
                      "supported, a warning goes to standard error.",
            .examples = kVersionExamples,
            .flags = kVersionFlags,
            .formats = "table|json|yaml|jsonpath=",
            .run = run_version,
            .minor = true},
    Command{
        .name = "completion",
        .summary = "Print a completion script for bash, zsh or fish",
        .detail =
            "The script asks the program for contexts, namespaces and nodes, which takes at most "
            "200 ms. For kubectl plimsoll, also install the program as kubectl_complete-plimsoll.",
        .examples = kCompletionExamples,
        .positionals = kCompletionPositionals,
        .run = run_completion,
        .minor = true},
    Command{.name = "man",
            .summary = "Write the manual pages",
            .examples = kManExamples,
            .flags = kManFlags,
            .positionals = kManPositionals,
            .run = run_man,
            .minor = true},
    Command{.name = "options",
            .summary = "List the flags of all commands",
            .run = run_options,
            .minor = true},
    Command{.name = "help",
            .summary = "Show help for a command",
            .positionals = kHelpPositionals,
            .run = run_help,
            .minor = true},
    Command{.name = "__complete",
            .summary = "Complete a command line",
            .positionals = kCompletePositionals,
            .run = run_complete,
            .hidden = true},
};

template <class Match>
const Flag* find_in(const Command* command, Match matches) {
  if (command != nullptr)
    for (const Flag& flag : command->flags)
      if (matches(flag)) return &flag;
  for (const Flag& flag : kGlobalFlags)
    if (matches(flag)) return &flag;
  return nullptr;
}

void append_upper(std::string& out, std::string_view text) {
  for (char c : text)
    out +=
        c == '-' || c == ' ' ? '_' : static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
}

}  // namespace

std::span<const Flag> global_flags() {
  return kGlobalFlags;
}

std::span<const Command> commands() {
  return kCommands;
}

std::span<const Group> groups() {
  return kGroups;
}

const Command* find_command(std::string_view name) {
  auto at = std::ranges::find(kCommands, name, &Command::name);
  return at == kCommands.end() ? nullptr : &*at;
}

const Flag* find_flag(const Command* command, std::string_view name) {
  return find_in(command, [&](const Flag& flag) { return flag.name == name; });
}

const Flag* find_flag(const Command* command, char letter) {
  return find_in(command, [&](const Flag& flag) { return letter != 0 && flag.letter == letter; });
}

bool is_group(std::string_view word) {
  return std::ranges::any_of(kCommands, [&](const Command& command) {
    return command.name.size() > word.size() && command.name.starts_with(word) &&
           command.name[word.size()] == ' ';
  });
}

std::string_view choices_of(const Command* command, const Flag& flag) {
  if (command != nullptr && flag.name == "output") return command->formats;
  return flag.choices;
}

std::vector<std::string_view> split_choices(std::string_view choices) {
  std::vector<std::string_view> out;
  while (!choices.empty()) {
    std::string_view one = choices.substr(0, choices.find('|'));
    out.push_back(one);
    choices.remove_prefix(std::min(choices.size(), one.size() + 1));
  }
  return out;
}

bool is_choice(std::string_view choices, std::string_view value) {
  return std::ranges::any_of(split_choices(choices), [&](std::string_view choice) {
    return choice.ends_with('=') ? value.size() > choice.size() && value.starts_with(choice)
                                 : value == choice;
  });
}

std::string usage_of(const Command& command) {
  std::string out(command.name);
  for (const Positional& positional : command.positionals) {
    std::string word(positional.metavar);
    if (positional.repeats) word += "…";
    out += positional.optional ? fmt::format(" [{}]", word) : " " + word;
  }
  constexpr std::size_t kFewFlags = 3;
  if (command.flags.size() > kFewFlags) return out + " [flags]";
  for (const Flag& flag : command.flags) {
    if (flag.hidden) continue;
    std::string name =
        flag.letter != 0 ? fmt::format("-{}", flag.letter) : fmt::format("--{}", flag.name);
    if (!flag.bare.empty()) name += fmt::format("[={}]", flag.metavar);
    out += flag.takes_value() ? fmt::format(" [{} {}]", name, flag.metavar)
                              : fmt::format(" [{}]", name);
  }
  if (!command.formats.empty()) out += " [-o FORMAT]";
  return out;
}

std::string environment_name(const Command* command, const Flag& flag) {
  std::string out = "PLIMSOLL_";
  if (command != nullptr) {
    append_upper(out, command->name);
    out += '_';
  }
  append_upper(out, flag.name);
  return out;
}

}  // namespace plim::cli
