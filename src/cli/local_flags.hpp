// Flags and examples of the commands for the local cluster, for the table of commands.
#pragma once

#include <array>

#include "cli/command.hpp"

namespace plim::cli {

inline constexpr Flag kName{
    .name = "name", .metavar = "NAME", .fallback = "default", .help = "name of the local cluster"};
inline constexpr Flag kDir{.name = "dir",
                           .metavar = "DIR",
                           .help = "directory of the cluster's files",
                           .live = Live::directory};
inline constexpr Flag kStopTimeout{.name = "timeout",
                                   .type = Type::duration,
                                   .metavar = "DURATION",
                                   .fallback = "60s",
                                   .help = "maximum wait for pods to stop"};
inline constexpr std::array kNameFlags{kName, kDir};

inline constexpr std::array kUpExamples{
    Example{"up", "in the foreground; Ctrl-C stops it"},
    Example{"up --detach", "in the background; plimsoll down stops it"},
    Example{"up --detach --roles none", "only the cluster: no agents, servo, webhook"},
    Example{"up --name test --ephemeral --detach", "another cluster, which keeps nothing"},
    Example{"up --config cluster-config.yml", "nodes and scheduler from a kind configuration"},
};
inline constexpr std::array kUpFlags{
    kName,
    Flag{.name = "nodes",
         .type = Type::integer,
         .metavar = "N",
         .fallback = "3",
         .help = "number of nodes whose pods are processes"},
    Flag{.name = "config",
         .metavar = "FILE",
         .help = "kind configuration for nodes and scheduler (Cluster, v1alpha4)",
         .live = Live::file},
    Flag{.name = "sim-nodes",
         .type = Type::integer,
         .metavar = "N",
         .fallback = "0",
         .help = "number of simulated nodes"},
    Flag{.name = "stages",
         .metavar = "FILE",
         .help = "stages of simulated pods and nodes",
         .live = Live::file,
         .rare = true},
    Flag{.name = "runtime",
         .metavar = "WHICH",
         .fallback = "auto",
         .help = "kind of --nodes: auto and process run processes, sim simulates",
         .choices = "auto|process|sim",
         .rare = true},
    Flag{.name = "roles",
         .metavar = "LIST",
         .fallback = "all",
         .help = "agent, images, pools, scheduler, servo, webhook; all, none"},
    Flag{.name = "authz",
         .metavar = "WHICH",
         .fallback = "all",
         .help = "all: every authenticated client may do everything; rbac is not supported yet",
         .choices = "all",
         .rare = true},
    Flag{.name = "detach",
         .type = Type::boolean,
         .fallback = "false",
         .help = "return when the cluster is ready and keep it running"},
    Flag{.name = "wait",
         .type = Type::duration,
         .metavar = "DURATION",
         .fallback = "10s",
         .help = "with --detach: maximum wait until the cluster is ready"},
    Flag{.name = "ephemeral",
         .type = Type::boolean,
         .fallback = "false",
         .help = "keep objects in memory only"},
    Flag{.name = "merge-kubeconfig",
         .type = Type::boolean,
         .fallback = "false",
         .help = "add the cluster to your kubeconfig, with a backup"},
    Flag{.name = "scheduler",
         .metavar = "WHICH",
         .fallback = "builtin",
         .help = "builtin, or none if you run your own scheduler",
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
         .help = "verbosity of the scheduler; 10 logs the score of every node",
         .rare = true},
    kDir,
    Flag{.name = "images",
         .metavar = "FILE",
         .help = "catalog of images with layers, sizes and programs",
         .live = Live::file,
         .rare = true},
    Flag{.name = "image-policy",
         .metavar = "WHICH",
         .fallback = "any",
         .help = "images outside the catalog: any allows them, strict makes pulls fail",
         .choices = "any|strict",
         .rare = true},
    Flag{.name = "pull-speedup",
         .metavar = "FACTOR",
         .fallback = "1",
         .help = "speed of pulls as a multiple of 100 MB/s",
         .rare = true},
    Flag{.name = "max-images",
         .type = Type::integer,
         .metavar = "N",
         .fallback = "50",
         .help = "maximum number of images that a node reports, -1: all",
         .rare = true},
    Flag{.name = "node-cpus",
         .metavar = "LIST",
         .help = "CPUs of nodes, n1=0-3,n2=4-7; default: nodes share all CPUs",
         .rare = true},
    Flag{.name = "cgroup-driver",
         .metavar = "WHICH",
         .fallback = "cgroupfs",
         .help = "name cgroups like a kubelet with this driver",
         .choices = "cgroupfs|systemd",
         .rare = true},
    Flag{.name = "isolation",
         .metavar = "WHICH",
         .fallback = "auto",
         .help = "auto: pods get namespaces if possible; none",
         .choices = "auto|none",
         .rare = true},
    Flag{.name = "annotate-runs",
         .type = Type::boolean,
         .fallback = "false",
         .help = "write exact run times to the pod annotation plimsoll.io/run-ns",
         .rare = true},
    Flag{.name = "controllers",
         .metavar = "NAMES",
         .fallback = "all",
         .help = "controllers to run: all, none, or names of kube-controller-manager",
         .rare = true},
    Flag{.name = "listen",
         .metavar = "ADDRESS",
         .help = "address of the API server; default: 127.0.0.1:7443 or the next free port",
         .rare = true},
    Flag{.name = "tls-san",
         .metavar = "NAMES",
         .help = "additional names and addresses in the certificate, comma-separated",
         .rare = true},
    Flag{
        .name = "durability",
        .metavar = "WHEN",
        .fallback = "fsync",
        .help =
            "when a write is acknowledged: on disk (fsync), in the kernel (os), immediately (none)",
        .choices = "fsync|os|none",
        .rare = true},
    Flag{
        .name = "max-objects-bytes",
        .metavar = "QUANTITY",
        .fallback = "0",
        .help = "reject writes when all objects together exceed this size, such as 512Mi; 0: never",
        .rare = true},
};

inline constexpr std::array kDownExamples{
    Example{"down", "stop the cluster"},
    Example{"down --name test", "stop another cluster"},
};
inline constexpr std::array kDownFlags{kName, kDir, kStopTimeout};

inline constexpr std::array kStatusExamples{
    Example{"status", "all local clusters with state, address and kubeconfig"},
    Example{"status --name test -o 'jsonpath={.kubeconfig}'",
            "kubeconfig of one cluster, for scripts"},
    Example{"status -o name", "names only"},
};
inline constexpr std::array kStatusFlags{
    Flag{.name = "name", .metavar = "NAME", .help = "only this cluster"},
    kDir,
};

inline constexpr std::array kResetExamples{
    Example{"reset", "asks for confirmation on a terminal"},
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
         .help = "do not ask for confirmation"},
};

inline constexpr std::array kNodeAddExamples{
    Example{"node add", "the next node, n4"},
    Example{"node add --count 5", "five more nodes"},
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
         .help = "number of nodes, if no name is given"},
};
inline constexpr std::array kNodeFlags{kName, kDir, kStopTimeout};
inline constexpr std::array kNodeNames{
    Positional{.metavar = "NODE", .help = "name of a node", .live = Live::node, .repeats = true},
};
inline constexpr std::array kNodeNamesOptional{
    Positional{.metavar = "NODE", .help = "name of a new node", .optional = true, .repeats = true},
};
inline constexpr std::array kNodeRmExamples{
    Example{"node rm n3", "its pods stop within their grace period"}};
inline constexpr std::array kNodeStopExamples{
    Example{"node stop n2", "see how the cluster reacts"},
};
inline constexpr std::array kNodeStartExamples{Example{"node start n2", "after node stop n2"}};
inline constexpr std::array kNodeLsExamples{
    Example{"node ls", "nodes with state, pods and cgroup"},
    Example{"node ls -o wide", "with the kubelet directory of each node"},
};
inline constexpr std::array kNodeExecExamples{
    Example{"node exec n1 -- ./my-device-plugin --v=2", "the plugin registers with node n1"},
    Example{"node exec n1 -- crictl images", "what the runtime of node n1 holds"},
};
inline constexpr std::array kNodeCpExamples{
    Example{
        "node cp scheduler-config.conf kind-control-plane:/etc/kubernetes/scheduler-config.conf",
        "the scheduler loads it"},
};
inline constexpr std::array kNodeCpPositionals{
    Positional{.metavar = "FILE", .help = "a file of this machine", .live = Live::file},
    Positional{.metavar = "NODE:PATH", .help = "an absolute path on a node"},
};
inline constexpr std::array kNodeExecPositionals{
    Positional{.metavar = "NODE", .help = "name of a node", .live = Live::node},
    Positional{.metavar = "WORD", .help = "the program and its arguments", .repeats = true},
};
inline constexpr std::array kImagesListExamples{
    Example{"images", "images of every node"},
    Example{"images --image busybox", "nodes with this image, by any of its names"},
    Example{"images --node n1 --layers", "layers of a node, and pulls in progress"},
    Example{"images -w", "print changes"},
};
inline constexpr std::array kImagesLsExamples{Example{"images ls", "images of every node"}};
inline constexpr std::array kImagesListFlags{
    Flag{.name = "node", .metavar = "NODE", .help = "only this node", .live = Live::node},
    Flag{.name = "image",
         .metavar = "IMAGE",
         .help = "only this image, by any name, digest or start of its ID"},
    Flag{.name = "layers",
         .type = Type::boolean,
         .fallback = "false",
         .help = "show layers, with the images that contain them"},
    Flag{.name = "watch",
         .letter = 'w',
         .type = Type::boolean,
         .fallback = "false",
         .help = "keep running and print changes"},
};
inline constexpr std::array kImagesLoadExamples{
    Example{"images load busybox:1.36 --node n1", "as if the node had pulled it"},
    Example{"images load busybox:1.36", "on every node"},
};
inline constexpr std::array kImagesRmExamples{
    Example{"images rm busybox:1.36 --node n1", "also removes layers that no other image needs"},
};
inline constexpr std::array kImagesPullExamples{
    Example{"images pull busybox:1.36 --node n1", "takes as long as for a pod"},
};
inline constexpr std::array kImagesFlags{
    kName,
    kDir,
    kStopTimeout,
    Flag{.name = "node",
         .metavar = "NODE",
         .help = "only on this node; default: every running node",
         .live = Live::node},
};
inline constexpr std::array kImagesPositionals{
    Positional{"IMAGE", "name of the image: busybox:1.36"},
};

inline constexpr std::array kStoreDumpExamples{
    Example{"store dump", "all objects, one per line"},
    Example{"store dump /registry/apps/deployments/", "objects below a key"},
    Example{"store dump --keys", "keys and revisions only"},
};
inline constexpr std::array kStoreDumpFlags{
    kName,
    kDir,
    Flag{.name = "show-secrets",
         .type = Type::boolean,
         .fallback = "false",
         .help = "print the data of Secrets"},
    Flag{.name = "keys",
         .type = Type::boolean,
         .fallback = "false",
         .help = "print only keys, revisions and sizes"},
};
inline constexpr std::array kStoreDumpPositionals{
    Positional{.metavar = "PREFIX", .help = "prefix of keys: /registry/pods/", .optional = true},
};
inline constexpr std::array kStoreVerifyExamples{
    Example{"store verify", "check for damage and show the size"},
    Example{"store verify --repair-to 3:4096", "drop the log after this place"},
};
inline constexpr std::array kStoreVerifyFlags{
    kName,
    kDir,
    Flag{.name = "repair-to",
         .metavar = "PLACE",
         .help = "truncate the log at SEGMENT:OFFSET, as printed by verify"},
};
inline constexpr std::array kStoreCompactExamples{
    Example{"store compact", "after stopping the cluster"},
};

}  // namespace plim::cli
