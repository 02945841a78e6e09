// The one table of commands. A new command: its row here, its function in commands.hpp.
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
         .help = "use this kubeconfig file alone",
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
         .help = "namespace to work in",
         .live = Live::ns},
    Flag{.name = "all-namespaces",
         .letter = 'A',
         .type = Type::boolean,
         .fallback = "false",
         .help = "look into all namespaces"},
    Flag{.name = "output",
         .letter = 'o',
         .metavar = "FORMAT",
         .help = "format of the output; each command's --help lists its own"},
    Flag{.name = "json", .type = Type::boolean, .fallback = "false", .help = "the same as -o json"},
    Flag{.name = "no-headers",
         .type = Type::boolean,
         .fallback = "false",
         .help = "tables without their first line"},
    Flag{.name = "quiet",
         .letter = 'q',
         .type = Type::boolean,
         .fallback = "false",
         .help = "only errors on standard error"},
    Flag{.name = "v",
         .letter = 'v',
         .type = Type::integer,
         .metavar = "N",
         .fallback = "0",
         .help = "how much to tell: 1 more, 4 every request"},
    Flag{.name = "log-level",
         .metavar = "LEVEL",
         .help = "wins over -q and -v",
         .choices = "debug|info|warn|error|off"},
    Flag{.name = "log-format",
         .metavar = "FORMAT",
         .fallback = "text",
         .help = "text or json",
         .choices = "text|json"},
    Flag{.name = "color",
         .metavar = "WHEN",
         .fallback = "auto",
         .help = "auto, always or never",
         .choices = "auto|always|never"},
    Flag{.name = "help",
         .letter = 'h',
         .type = Type::boolean,
         .fallback = "false",
         .help = "show help, examples first"},
};

constexpr std::string_view kStatusFormats = "table|wide|json|yaml|name|jsonpath=|custom-columns=";
constexpr std::string_view kAllFormats = "table|wide|json|yaml|jsonpath=|custom-columns=";

constexpr std::array kHelpPositionals{
    Positional{.metavar = "COMMAND",
               .help = "a command, in one or two words",
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
    Group{"images", "Show which node holds which images and layers"},
    Group{"agent", "Measure what pods and cgroups of this node use"},
    Group{"flow", "Run jobs that cut data into slices and work on them side by side"},
    Group{"store", "Look into the store of a local cluster that is not running"},
};

constexpr std::array kCommands{
    Command{.name = "up",
            .summary = "Start a Kubernetes cluster on this machine",
            .detail =
                "Store, API server, controllers, scheduler and nodes in one process, for trying "
                "things and for tests. Without --detach it stays in the foreground, says what is "
                "ready and when, and stops with Ctrl-C. Standard output has one line, which sets "
                "KUBECONFIG: eval \"$(plimsoll up --detach)\". Your own kubeconfig is left alone "
                "unless --merge-kubeconfig is given.",
            .examples = kUpExamples,
            .flags = kUpFlags,
            .exit_notes = "3 when it is running already, 5 when --wait is over",
            .run = run_up},
    Command{.name = "down",
            .summary = "Stop the local cluster; its objects stay for the next start",
            .examples = kDownExamples,
            .flags = kDownFlags,
            .exit_notes = "0 also when it is not running, 5 timed out",
            .run = run_down},
    Command{.name = "status",
            .summary = "Show the local clusters, or the one that is named",
            .examples = kStatusExamples,
            .flags = kStatusFlags,
            .formats = kStatusFormats,
            .exit_notes = "of a named one: 1 when it is stopped, 4 when there is none",
            .run = run_status},
    Command{.name = "reset",
            .summary = "Stop the local cluster and remove every file of it",
            .examples = kResetExamples,
            .flags = kResetFlags,
            .run = run_reset,
            .minor = true},
    Command{.name = "node add",
            .summary = "Add nodes to the local cluster",
            .detail = "They come back with the next start, until they are removed.",
            .examples = kNodeAddExamples,
            .flags = kNodeAddFlags,
            .positionals = kNodeNamesOptional,
            .exit_notes = "3 when a node of this name exists",
            .run = run_node_add},
    Command{.name = "node rm",
            .summary = "Remove nodes from the local cluster; their pods end with their grace",
            .examples = kNodeRmExamples,
            .flags = kNodeFlags,
            .positionals = kNodeNames,
            .exit_notes = "4 when there is no such node",
            .run = run_node_rm},
    Command{.name = "node stop",
            .summary = "Pull the plug of nodes: processes end, the API hears nothing",
            .examples = kNodeStopExamples,
            .flags = kNodeFlags,
            .positionals = kNodeNames,
            .exit_notes = "4 when there is no such node",
            .run = run_node_stop},
    Command{.name = "node start",
            .summary = "Start nodes that were stopped",
            .examples = kNodeStartExamples,
            .flags = kNodeFlags,
            .positionals = kNodeNames,
            .exit_notes = "4 when there is no such node",
            .run = run_node_start},
    Command{.name = "node ls",
            .summary = "List the nodes of the local cluster as the machine sees them",
            .examples = kNodeLsExamples,
            .flags = kNameFlags,
            .formats = kAllFormats,
            .run = run_node_ls},
    Command{.name = "node exec",
            .summary = "Run a program with a node's directory in the place of the kubelet's",
            .detail =
                "For device plugins that have /var/lib/kubelet in their code. Needs root: the "
                "directory is bound there in a mount namespace of the program's own.",
            .examples = kNodeExecExamples,
            .flags = kNameFlags,
            .positionals = kNodeExecPositionals,
            .exit_notes = "that of the program; 4 when there is no such node",
            .run = run_node_exec},
    Command{.name = "images",
            .summary = "Show which node holds which images and layers",
            .detail =
                "One line for each name, with sizes as crictl prints them. What plimsoll agent "
                "--images of a node reports is complete and has layers; where no agent runs, or "
                "its report is older than ten minutes, it is what the kubelet puts into the "
                "node's status: the 50 largest images with five names each. The column SOURCE "
                "says which, AGE how old the report is; -o wide adds how many bytes of an image "
                "other images of the node have too.",
            .examples = kImagesListExamples,
            .flags = kImagesListFlags,
            .formats = kAllFormats,
            .exit_notes = "4 when there is no such node",
            .run = run_images},
    Command{.name = "images ls",
            .summary = "The same as images",
            .examples = kImagesLsExamples,
            .flags = kImagesListFlags,
            .formats = kAllFormats,
            .exit_notes = "4 when there is no such node",
            .run = run_images,
            .hidden = true},
    Command{.name = "images load",
            .summary = "Put an image on nodes at once, without pulling it",
            .examples = kImagesLoadExamples,
            .flags = kImagesFlags,
            .positionals = kImagesPositionals,
            .exit_notes = "4 when there is no such node or image",
            .run = run_images_load,
            .minor = true},
    Command{.name = "images rm",
            .summary = "Take an image off nodes",
            .examples = kImagesRmExamples,
            .flags = kImagesFlags,
            .positionals = kImagesPositionals,
            .exit_notes = "4 when there is no such node or image",
            .run = run_images_rm,
            .minor = true},
    Command{.name = "images pull",
            .summary = "Pull an image to nodes, in the time it takes",
            .examples = kImagesPullExamples,
            .flags = kImagesFlags,
            .positionals = kImagesPositionals,
            .exit_notes = "4 when there is no such node or image",
            .run = run_images_pull,
            .minor = true},
    Command{.name = "store dump",
            .summary = "Print the objects in the store of a local cluster",
            .detail = "One object per line as it is stored, by key. The data of Secrets is hidden "
                      "unless --show-secrets is given.",
            .examples = kStoreDumpExamples,
            .flags = kStoreDumpFlags,
            .positionals = kStoreDumpPositionals,
            .run = run_store_dump},
    Command{.name = "store verify",
            .summary = "Read the whole store of a local cluster and say whether it is sound",
            .detail = "A record that is torn at the very end of the log is no damage: the next "
                      "start cuts it off. Damage before the end can be repaired only by giving up "
                      "what follows.",
            .examples = kStoreVerifyExamples,
            .flags = kStoreVerifyFlags,
            .formats = kAllFormats,
            .exit_notes = "1 when it is damaged",
            .run = run_store_verify},
    Command{.name = "store compact",
            .summary = "Write a snapshot of the store and drop its log",
            .examples = kStoreCompactExamples,
            .flags = kNameFlags,
            .formats = kAllFormats,
            .exit_notes = "3 when the cluster is running",
            .run = run_store_compact},
    Command{.name = "agent run",
            .summary = "Run the node agent: measure every task, give out CPUs, tell of images",
            .detail =
                "A task is a pod, or a cgroup where there is no orchestrator. Logs go to standard "
                "output, since the default storage owns standard error. The flags of Intel's "
                "Workload Collocation Agent work: -c, -l, -0, -v, and run may be left out. SIGHUP "
                "rereads the configuration; a broken one is reported and the old one stays. With "
                "--images it asks the container runtime which images and layers it holds and "
                "publishes that; with --poolconfigs it does what pools agent does. Each of these "
                "modules runs alone or beside the others in one process, with one address for "
                "all; without -c there is no measuring, and as root no need of --root. A module "
                "that fails beside others is started again while they go on; one that is alone "
                "ends the process.",
            .examples = kAgentRunExamples,
            .flags = kAgentRunFlags,
            .exit_notes = "1 configuration or start failed, 2 usage, or root without --root, 78 as "
                          "pools agent",
            .run = run_agent},
    Command{.name = "agent check",
            .summary = "Check a configuration file and print it with every default",
            .examples = kAgentCheckExamples,
            .flags = kAgentCheckFlags,
            .exit_notes = "1 when the file is wrong",
            .run = run_agent_check},
    Command{.name = "agent top",
            .summary = "Show what every task of this node uses now",
            .examples = kAgentTopExamples,
            .flags = kAgentTopFlags,
            .formats = kAllFormats,
            .run = run_agent_top},
    Command{
        .name = "pools",
        .summary = "Show pools of CPUs: what is free, who holds what, where it lies",
        .detail =
            "One table for the pools and a map with a sign for each CPU, by NUMA node and "
            "last-level cache: E free and exclusive, a letter for each holder, s shared, . "
            "everybody's, - kept idle, x offline, ! a process of the host wants to run and may do "
            "so there. Asks the agents of the local cluster, or "
            "the one at --url, with --node on another cluster the NodeReport, else this "
            "machine itself.",
        .examples = kPoolsExamples,
        .flags = kPoolsFlags,
        .formats = kAllFormats,
        .run = run_pools},
    Command{.name = "pools status",
            .summary = "The same as pools",
            .flags = kPoolsFlags,
            .formats = kAllFormats,
            .run = run_pools,
            .hidden = true},
    Command{.name = "pools agent",
            .summary = "Give out the CPUs of this node's pools and keep containers on theirs",
            .detail = "A device plugin for every pool, and the cpusets of all containers. Flags of "
                      "CPU-Pooler's programs work. SIGHUP and changed files reread the "
                      "configuration; one with mistakes is reported and the old one stays.",
            .examples = kPoolsAgentExamples,
            .flags = kPoolsAgentFlags,
            .exit_notes = "1 configuration or start failed, 78 the kubelet's CPU manager is static",
            .run = run_pools_agent,
            .minor = true},
    Command{.name = "pools validate",
            .summary = "Check a pool configuration against the CPUs of a machine",
            .detail = "Reads files, directories as a ConfigMap is mounted, or the manifest of the "
                      "ConfigMap itself, in every shape that CPU-Pooler had. All mistakes are told "
                      "at once, with file, line, column, pool and CPUs.",
            .examples = kPoolsValidateExamples,
            .flags = kPoolsValidateFlags,
            .positionals = kPoolsValidatePositionals,
            .formats = kAllFormats,
            .exit_notes = "1 when a rule is broken",
            .run = run_pools_validate,
            .minor = true},
    Command{.name = "pools schema",
            .summary = "Print the JSON Schema of the pod annotation <base>/cpus",
            .detail = "Draft 7, for editors and for checks before a pod is made; what contradicts "
                      "the pod itself is found by the webhook.",
            .examples = kPoolsSchemaExamples,
            .run = run_pools_schema,
            .minor = true},
    Command{.name = "pools install-starter",
            .summary = "Copy plimsoll-starter to the host, where pinned containers find it",
            .detail = "Under the given name and its own, each in one step. A newer one stays.",
            .examples = kPoolsInstallStarterExamples,
            .flags = kPoolsInstallStarterFlags,
            .run = run_pools_install_starter,
            .minor = true},
    Command{.name = "starter",
            .summary = "Start the processes of a container on the CPUs of their pools",
            .detail =
                "Runs plimsoll-starter, the static program that the webhook makes the entry point "
                "of pinned containers; it is also called process-starter. When the pod's "
                "annotation nokia.k8s.io/cpus names the container, it starts the processes listed "
                "there, each on CPUs of its pool; else the command given, on all CPUs of the "
                "container. It waits for the container's cpuset first (PLIMSOLL_CPUSET_WAIT, 30s; "
                "0: not at all). As the parent of several processes it forwards signals, reaps "
                "orphans, and gives who is told to stop PLIMSOLL_STOP_GRACE (10s).",
            .examples = kStarterExamples,
            .positionals = kStarterPositionals,
            .exit_notes = "that of the program; 124 late cpuset, 125 no start, 126, 127 as a shell",
            .run = run_starter,
            .minor = true},
    Command{.name = "webhook",
            .summary = "Check and change pods at their admission",
            .detail =
                "The API server asks it about pods that are to be made. At /mutating-pods pods "
                "that ask for CPUs of pools get what they need to run there; those whose "
                "annotation contradicts their requests are refused with a code. At /mutating-jobs "
                "jobs are marked for the servo and get its monitor, and nobody is refused; it "
                "takes the servo's variables. Certificate and pool files are read again when "
                "they change, and by SIGHUP; open connections stay. It serves /healthz, /readyz "
                "and /metrics too.",
            .examples = kWebhookExamples,
            .flags = kWebhookFlags,
            .exit_notes = "0 after SIGTERM or SIGINT, 1 bad files or no start, 3 internal error",
            .run = run_webhook},
    Command{.name = "webhook certs",
            .summary = "Make and renew the certificates of the webhook",
            .detail = "An authority of its own for ten years and a certificate for ninety days, "
                      "kept in a Secret of namespace kube-system, or of -n. They are renewed when "
                      "two thirds of their time are over. The webhook configuration gets the "
                      "authority as caBundle; the one before stays in it. webhook --self-signed "
                      "does the same while it runs.",
            .examples = kWebhookCertsExamples,
            .flags = kWebhookCertsFlags,
            .run = run_webhook_certs,
            .minor = true},
    Command{.name = "scheduler",
            .summary = "Place pods on nodes, in place of kube-scheduler",
            .detail =
                "Takes kube-scheduler's command line and configuration: KubeSchedulerConfiguration "
                "v1, and its betas, which are converted. The file is read again when it changes "
                "and by SIGHUP; a broken one leaves the old one in force. With -v 10 the score "
                "of every plugin for every node is logged as kube-scheduler does. Flags without "
                "effect are taken so that a static pod only needs another image.",
            .examples = kSchedulerExamples,
            .flags = kSchedulerFlags,
            .exit_notes = "0 after SIGTERM or SIGINT, 1 bad settings, no start or a lost lease",
            .run = run_scheduler},
    Command{.name = "servo",
            .summary = "Measure the runs of one-time jobs, keep them and send them on",
            .detail =
                "A pod with an application id is a job. When its container ends, the servo stores "
                "how long it ran, and posts it if it is told where to. The token for posts comes "
                "from OPTUNE_AUTH_TOKEN or a file, never from the command line. Flags win over the "
                "variables named with them. It stops with SIGTERM or Ctrl-C; what could not be "
                "sent is sent after the next start.",
            .examples = kServoExamples,
            .flags = kServoFlags,
            .exit_notes = "0 after SIGTERM or SIGINT, 1 bad settings or no start, 3 internal error",
            .run = run_servo},
    Command{.name = "servo path-test",
            .summary = "Try a path to the application id on a pod",
            .detail = "Elements are separated by '/': a member of a map, an index of a list, "
                      "[name] for the value of the entry of that name, [name,k,v] with other "
                      "members than name and value, or a key in double quotes. Several paths are "
                      "separated by '|'.",
            .examples = kPathTestExamples,
            .flags = kPathTestFlags,
            .exit_notes = "0 found, 1 the pod has no id there, 2 the path is wrong",
            .run = run_servo_path_test,
            .minor = true},
    Command{.name = "servo history",
            .summary = "Show finished runs, newest first; the same as runs",
            .flags = kRunsFlags,
            .formats = kAllFormats,
            .run = run_runs,
            .hidden = true},
    Command{.name = "runs",
            .summary = "Show finished runs of jobs, newest first",
            .detail = "Asks the servo: at --url, else at the local cluster's, else its Service "
                      "through the API server. With --store it reads the servo's files itself.",
            .examples = kRunsExamples,
            .flags = kRunsFlags,
            .formats = kAllFormats,
            .run = run_runs},
    Command{.name = "flow run",
            .summary = "Run a job file here: slices, worker processes, progress",
            .detail =
                "Needs neither server nor configuration. Every slice is written down before it is "
                "worked on, so a run that was interrupted, killed or had failed slices goes on "
                "with --resume. Progress goes to standard error; standard output has what the "
                "operation stdout prints, or with -o json one event per line.",
            .examples = kFlowRunExamples,
            .flags = kFlowRunFlags,
            .positionals = kFlowJobOptional,
            .formats = "text|json",
            .exit_notes = "0 completed, 1 slices failed, 2 invalid job, 130 interrupted",
            .run = run_flow_run},
    Command{.name = "flow validate",
            .summary = "Check a job file and say how often a record may be written",
            .examples = kFlowValidateExamples,
            .positionals = kFlowJob,
            .exit_notes = "2 when it is invalid",
            .run = run_flow_validate},
    Command{.name = "flow ops",
            .summary = "List the operations of jobs, or the options of one",
            .examples = kFlowOpsExamples,
            .positionals = kFlowOpsPositionals,
            .formats = kAllFormats,
            .exit_notes = "4 when there is no such operation",
            .run = run_flow_ops},
    Command{.name = "install",
            .summary = "Put the parts of Plimsoll on a cluster",
            .detail = "Applies the objects of deploy/ as they were when this program was built; "
                      "without a role those of all. A namespace that is missing is made. What "
                      "the objects allow and where they run is best read with --dry-run first.",
            .examples = kInstallExamples,
            .flags = kInstallFlags,
            .positionals = kInstallPositionals,
            .run = run_install},
    Command{.name = "uninstall",
            .summary = "Take the parts of Plimsoll off a cluster; namespaces stay",
            .examples = kUninstallExamples,
            .flags = kUninstallFlags,
            .positionals = kInstallPositionals,
            .run = run_uninstall,
            .minor = true},
    Command{.name = "doctor",
            .summary = "Check what works on this machine and in which degraded mode",
            .detail =
                "Looks at the kernel, cgroups, perf, pressure, resctrl, permissions, the kubelet, "
                "container runtimes, the clock, and whether the cluster answers. Each finding is "
                "ok, degraded (things work with less), absent (nothing here needs it) or failed.",
            .examples = kDoctorExamples,
            .flags = kDoctorFlags,
            .formats = kAllFormats,
            .exit_notes = "0 when nothing failed, 1 when a check failed",
            .run = run_doctor},
    Command{.name = "raw",
            .summary = "Send any request to the API server and print the answer",
            .detail =
                "Without -o the body is printed as it came. With -o it is parsed as JSON first. "
                "A watch prints one event per line until it ends or is interrupted.",
            .examples = kRawExamples,
            .flags = kRawFlags,
            .positionals = kRawPositionals,
            .formats = "raw|json|yaml|name|jsonpath=|custom-columns=",
            .exit_notes = "4 not found, 5 timed out",
            .run = run_raw,
            .minor = true},
    Command{.name = "explain pod",
            .summary = "Say why a pod is on its node, and not on another",
            .detail =
                "Of a pod that runs the scheduler is asked, which keeps its last decisions; where "
                "it cannot be reached, the annotation plimsoll.io/decision tells less. With "
                "--snapshot a cluster is read from a file and decided in as the scheduler does. "
                "Several pods are "
                "decided one after the other, each on its node before the next is looked at; a pod "
                "of the file that has a node already is taken to be there.",
            .examples = kExplainPodExamples,
            .flags = kExplainPodFlags,
            .positionals = kExplainPodPositionals,
            .formats = "table|json|yaml|jsonpath=",
            .exit_notes = "1 a file cannot be used, 2 usage, 4 no such pod or decision",
            .run = run_explain_pod,
            .minor = true},
    Command{.name = "explain error",
            .summary = "Say what an error code means and what to do",
            .examples = kExplainErrorExamples,
            .positionals = kExplainErrorPositionals,
            .formats = kAllFormats,
            .exit_notes = "4 unknown code",
            .run = run_explain_error,
            .minor = true},
    Command{.name = "version",
            .summary = "Show versions of this program, of Kubernetes and of the cluster",
            .detail = "A cluster that cannot be reached is no failure. A cluster outside of the "
                      "supported range is warned about on standard error.",
            .examples = kVersionExamples,
            .flags = kVersionFlags,
            .formats = "table|json|yaml|jsonpath=",
            .run = run_version,
            .minor = true},
    Command{.name = "completion",
            .summary = "Print a completion script for bash, zsh or fish",
            .detail =
                "Names of contexts, namespaces and nodes are completed live, within 200 ms. For "
                "kubectl plimsoll, install the program also as kubectl_complete-plimsoll.",
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
            .summary = "List the flags that every command takes",
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
