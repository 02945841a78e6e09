// Flags and examples of the commands around the local cluster, for the one table of commands.
#pragma once

#include <array>

#include "cli/command.hpp"

namespace plim::cli {

inline constexpr Flag kName{.name = "name",
                            .metavar = "NAME",
                            .fallback = "default",
                            .help = "which local cluster; several may run side by side"};
inline constexpr Flag kDir{.name = "dir",
                           .metavar = "DIR",
                           .help = "where it keeps its files, instead of the usual place",
                           .live = Live::directory};
inline constexpr Flag kStopTimeout{.name = "timeout",
                                   .type = Type::duration,
                                   .metavar = "DURATION",
                                   .fallback = "60s",
                                   .help = "longest wait for pods to end"};
inline constexpr std::array kNameFlags{kName, kDir};

inline constexpr std::array kUpExamples{
    Example{"up", "in the foreground, Ctrl-C stops it"},
    Example{"up --detach", "in the background; plimsoll down stops it"},
    Example{"up --detach --roles none", "the cluster alone: no agents, servo, webhook"},
    Example{"up --name test --ephemeral --detach", "another one, which keeps nothing"},
    Example{"up --config cluster-config.yml", "nodes and scheduler as a file for kind says"},
};
inline constexpr std::array kUpFlags{
    kName,
    Flag{.name = "nodes",
         .type = Type::integer,
         .metavar = "N",
         .fallback = "3",
         .help = "nodes whose pods are processes on this machine"},
    Flag{.name = "config",
         .metavar = "FILE",
         .help = "nodes and scheduler of a file for kind (Cluster, v1alpha4)",
         .live = Live::file},
    Flag{.name = "sim-nodes",
         .type = Type::integer,
         .metavar = "N",
         .fallback = "0",
         .help = "nodes that only pretend"},
    Flag{.name = "stages",
         .metavar = "FILE",
         .help = "what happens when to simulated pods and nodes",
         .live = Live::file,
         .rare = true},
    Flag{.name = "runtime",
         .metavar = "WHICH",
         .fallback = "auto",
         .help = "of --nodes: auto and process are processes, sim pretends",
         .choices = "auto|process|sim",
         .rare = true},
    Flag{.name = "roles",
         .metavar = "LIST",
         .fallback = "all",
         .help = "agent, images, pools, scheduler, servo, webhook; all, none"},
    Flag{.name = "authz",
         .metavar = "WHICH",
         .fallback = "all",
         .help = "who may do what: everybody who is known may do all; rbac is not here yet",
         .choices = "all",
         .rare = true},
    Flag{.name = "detach",
         .type = Type::boolean,
         .fallback = "false",
         .help = "return when it is ready, leave it running"},
    Flag{.name = "wait",
         .type = Type::duration,
         .metavar = "DURATION",
         .fallback = "10s",
         .help = "with --detach: longest wait for it to be ready"},
    Flag{.name = "ephemeral",
         .type = Type::boolean,
         .fallback = "false",
         .help = "keep objects in memory only"},
    Flag{.name = "merge-kubeconfig",
         .type = Type::boolean,
         .fallback = "false",
         .help = "add it to your own kubeconfig, with a backup"},
    Flag{.name = "scheduler",
         .metavar = "WHICH",
         .fallback = "builtin",
         .help = "builtin, or none: another one will place pods",
         .choices = "builtin|none",
         .rare = true},
    Flag{.name = "scheduler-config",
         .metavar = "FILE",
         .help = "KubeSchedulerConfiguration of the role scheduler",
         .live = Live::file,
         .rare = true},
    Flag{.name = "scheduler-v",
         .type = Type::integer,
         .metavar = "N",
         .help = "how much it logs; 10 shows the score of every node",
         .rare = true},
    kDir,
    Flag{.name = "images",
         .metavar = "FILE",
         .help = "catalog of images: their layers, sizes and programs",
         .live = Live::file,
         .rare = true},
    Flag{.name = "image-policy",
         .metavar = "WHICH",
         .fallback = "any",
         .help = "names outside of the catalog: any, or strict (they cannot be pulled)",
         .choices = "any|strict",
         .rare = true},
    Flag{.name = "pull-speedup",
         .metavar = "FACTOR",
         .fallback = "1",
         .help = "images are pulled so many times faster than at 100 MB/s",
         .rare = true},
    Flag{.name = "max-images",
         .type = Type::integer,
         .metavar = "N",
         .fallback = "50",
         .help = "images that a node reports, -1: all",
         .rare = true},
    Flag{.name = "node-cpus",
         .metavar = "LIST",
         .help = "CPUs of nodes, n1=0-3,n2=4-7; without it they share all",
         .rare = true},
    Flag{.name = "cgroup-driver",
         .metavar = "WHICH",
         .fallback = "cgroupfs",
         .help = "names of cgroups as this driver of a kubelet's would make them",
         .choices = "cgroupfs|systemd",
         .rare = true},
    Flag{.name = "isolation",
         .metavar = "WHICH",
         .fallback = "auto",
         .help = "auto: namespaces for pods where they can be made; none",
         .choices = "auto|none",
         .rare = true},
    Flag{.name = "annotate-runs",
         .type = Type::boolean,
         .fallback = "false",
         .help = "exact times of runs as annotation plimsoll.io/run-ns of pods",
         .rare = true},
    Flag{.name = "controllers",
         .metavar = "NAMES",
         .fallback = "all",
         .help = "which controllers run: all, none, or names as kube-controller-manager's",
         .rare = true},
    Flag{.name = "listen",
         .metavar = "ADDRESS",
         .help = "address of the API server; 127.0.0.1:7443, or the next free port",
         .rare = true},
    Flag{.name = "tls-san",
         .metavar = "NAMES",
         .help = "further names and addresses for its certificate, separated by commas",
         .rare = true},
    Flag{.name = "durability",
         .metavar = "WHEN",
         .fallback = "fsync",
         .help = "a write is acknowledged when it is on disk (fsync), with the kernel (os), at "
                 "once (none)",
         .choices = "fsync|os|none",
         .rare = true},
    Flag{.name = "max-objects-bytes",
         .metavar = "QUANTITY",
         .fallback = "0",
         .help = "refuse writes when all objects are larger than this, such as 512Mi; 0: never",
         .rare = true},
};

inline constexpr std::array kDownExamples{
    Example{"down", "stop it"},
    Example{"down --name test", "another one"},
};
inline constexpr std::array kDownFlags{kName, kDir, kStopTimeout};

inline constexpr std::array kStatusExamples{
    Example{"status", "every local cluster: does it run, where, with which kubeconfig"},
    Example{"status --name test -o 'jsonpath={.kubeconfig}'", "of one, for scripts"},
    Example{"status -o name", "only their names"},
};
inline constexpr std::array kStatusFlags{
    Flag{.name = "name", .metavar = "NAME", .help = "of this cluster only"},
    kDir,
};

inline constexpr std::array kResetExamples{
    Example{"reset", "asks first if there is somebody to ask"},
    Example{"reset --name test --yes", "for scripts"},
};
inline constexpr std::array kResetFlags{
    kName,
    kDir,
    kStopTimeout,
    Flag{.name = "yes",
         .letter = 'y',
         .type = Type::boolean,
         .fallback = "false",
         .help = "do not ask"},
};

inline constexpr std::array kNodeAddExamples{
    Example{"node add", "the next one, n4"},
    Example{"node add --count 5", "five more"},
    Example{"node add gpu-1 gpu-2", "by name"},
};
inline constexpr std::array kNodeAddFlags{
    kName,
    kDir,
    kStopTimeout,
    Flag{.name = "count",
         .type = Type::integer,
         .metavar = "N",
         .fallback = "1",
         .help = "how many, when none is named"},
};
inline constexpr std::array kNodeFlags{kName, kDir, kStopTimeout};
inline constexpr std::array kNodeNames{
    Positional{.metavar = "NODE", .help = "name of a node", .live = Live::node, .repeats = true},
};
inline constexpr std::array kNodeNamesOptional{
    Positional{.metavar = "NODE", .help = "name of a new node", .optional = true, .repeats = true},
};
inline constexpr std::array kNodeRmExamples{Example{"node rm n3", "its pods end with their grace"}};
inline constexpr std::array kNodeStopExamples{
    Example{"node stop n2", "see how the cluster takes it"},
};
inline constexpr std::array kNodeStartExamples{Example{"node start n2", "after node stop n2"}};
inline constexpr std::array kNodeLsExamples{
    Example{"node ls", "which run, with how many pods, in which cgroup"},
    Example{"node ls -o wide", "with the directory that stands for the kubelet's"},
};
inline constexpr std::array kNodeExecExamples{
    Example{"node exec n1 -- ./my-device-plugin --v=2", "it registers with node n1"},
};
inline constexpr std::array kNodeExecPositionals{
    Positional{.metavar = "NODE", .help = "name of a node", .live = Live::node},
    Positional{.metavar = "WORD", .help = "the program and its arguments", .repeats = true},
};
inline constexpr std::array kImagesListExamples{
    Example{"images", "which node holds which image"},
    Example{"images --image busybox", "who holds it, by any of its names"},
    Example{"images --node n1 --layers", "what the images of a node share, and pulls under way"},
    Example{"images -w", "what comes and goes"},
};
inline constexpr std::array kImagesLsExamples{Example{"images ls", "which node holds which image"}};
inline constexpr std::array kImagesListFlags{
    Flag{.name = "node", .metavar = "NODE", .help = "of this one only", .live = Live::node},
    Flag{.name = "image",
         .metavar = "IMAGE",
         .help = "this one only, in any spelling, or the start of its id"},
    Flag{.name = "layers",
         .type = Type::boolean,
         .fallback = "false",
         .help = "layers instead, with the images they are part of"},
    Flag{.name = "watch",
         .letter = 'w',
         .type = Type::boolean,
         .fallback = "false",
         .help = "go on and print what changes"},
};
inline constexpr std::array kImagesLoadExamples{
    Example{"images load busybox:1.36 --node n1", "as if it had been pulled before"},
    Example{"images load busybox:1.36", "on every node"},
};
inline constexpr std::array kImagesRmExamples{
    Example{"images rm busybox:1.36 --node n1", "layers that nobody else needs go with it"},
};
inline constexpr std::array kImagesPullExamples{
    Example{"images pull busybox:1.36 --node n1", "takes as long as a pod would wait for it"},
};
inline constexpr std::array kImagesFlags{
    kName,
    kDir,
    kStopTimeout,
    Flag{.name = "node",
         .metavar = "NODE",
         .help = "on this one only; else on every running node",
         .live = Live::node},
};
inline constexpr std::array kImagesPositionals{
    Positional{"IMAGE", "its name: busybox:1.36"},
};

inline constexpr std::array kStoreDumpExamples{
    Example{"store dump", "every object, one per line"},
    Example{"store dump /registry/apps/deployments/", "those below a key"},
    Example{"store dump --keys", "keys and revisions only"},
};
inline constexpr std::array kStoreDumpFlags{
    kName,
    kDir,
    Flag{.name = "show-secrets",
         .type = Type::boolean,
         .fallback = "false",
         .help = "with the data of Secrets"},
    Flag{.name = "keys",
         .type = Type::boolean,
         .fallback = "false",
         .help = "only keys, revisions and sizes"},
};
inline constexpr std::array kStoreDumpPositionals{
    Positional{.metavar = "PREFIX", .help = "of keys: /registry/pods/", .optional = true},
};
inline constexpr std::array kStoreVerifyExamples{
    Example{"store verify", "is it sound, how large is it"},
    Example{"store verify --repair-to 3:4096", "give up the log from there on"},
};
inline constexpr std::array kStoreVerifyFlags{
    kName,
    kDir,
    Flag{.name = "repair-to",
         .metavar = "PLACE",
         .help = "cut the log there, SEGMENT:OFFSET as verify names it"},
};
inline constexpr std::array kStoreCompactExamples{
    Example{"store compact", "after stopping the cluster"},
};

}  // namespace plim::cli
