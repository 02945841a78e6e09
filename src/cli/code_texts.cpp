#include "cli/code_texts.hpp"

#include <array>

#include "cli/failures.hpp"

namespace plim::cli {
namespace {

struct AdmissionCode {
  std::string_view code, title, meaning, remedy;
};

constexpr std::array kAdmissionCodes{
    AdmissionCode{"ANN001", "the annotation cannot be read",
                  "It is not JSON, not a list, a member has the wrong type or is there twice, or "
                  "cpus is no whole number.",
                  "correct the place that the message names"},
    AdmissionCode{"ANN002", "an element of the annotation names no container",
                  "Every element says by container which one it is about.",
                  "add the name of a container of the pod"},
    AdmissionCode{"ANN003", "a container of the annotation has no processes",
                  "An element is there to say what the container starts.",
                  "list its processes, or leave the container out"},
    AdmissionCode{"ANN004", "a process of the annotation has no program",
                  "process is the program that is started, with a path or found by PATH.",
                  "name the program in process"},
    AdmissionCode{"ANN005", "a process of the annotation has no CPUs",
                  "cpus is missing or below one: whole CPUs of an exclusive pool, thousandths of "
                  "a shared one.",
                  "say in cpus how much of the pool the process gets"},
    AdmissionCode{"ANN006", "a process of the annotation has no pool",
                  "pool is the name of a pool, without the part before the slash.",
                  "name in pool one of the pools that the container requests"},
    AdmissionCode{"ANN007", "a process of the annotation has no args",
                  "A warning only: the process is started without arguments.",
                  "write \"args\": [] where that is meant"},
    AdmissionCode{"ANN008", "the annotation has a container twice",
                  "Which of the two lists of processes is meant cannot be known.",
                  "put all its processes into one element"},
    AdmissionCode{"ANN009", "the annotation is about a container without pools",
                  "The pod has no container of that name, or it requests nothing of any pool.",
                  "correct the name, which is case-sensitive, or add the pool to its limits"},
    AdmissionCode{"ANN010", "a process uses a pool that its container does not request",
                  "Only pools in resources.limits of the container are given to it.",
                  "add the pool to the limits of the container, or name another one"},
    AdmissionCode{"ANN011", "processes do not add up to the shared CPUs requested",
                  "For each shared pool the cpus of all processes of a container add up to what "
                  "it requests.",
                  "change the request or cpus of a process until both are equal"},
    AdmissionCode{"ANN012", "processes need more exclusive CPUs than requested",
                  "Together they may use what the container requests; where a pool hands out "
                  "whole cores, every thread of them.",
                  "request more CPUs of the pool, or give the processes fewer"},
    AdmissionCode{"ANN013", "the annotation pins nothing", "It is there, but names no container.",
                  "remove it, or say which processes to start"},
    AdmissionCode{"ANN014", "the annotation is too large",
                  "It may name 64 containers with 256 processes each, in 256 KiB.",
                  "start helpers from your own programs"},
    AdmissionCode{"ANN015", "the annotation of a running pod cannot be changed",
                  "It is read again when a container restarts, which would then start something "
                  "else than was admitted.",
                  "make a new pod"},
    AdmissionCode{"RES001", "a pool request is no whole number",
                  "Exclusive pools are requested in CPUs, shared ones in thousandths of a CPU; "
                  "fractions and negative amounts mean nothing.",
                  "request a whole number: 250 of a shared pool is a quarter of a CPU"},
    AdmissionCode{"RES002", "no pool configuration has this pool",
                  "No file that the webhook has read lists a pool of this name. It warns, refuses "
                  "or stays silent as --unknown-pool says.",
                  "correct the name; plimsoll pools shows the pools of a node"},
    AdmissionCode{"RES003", "no node has so many exclusive CPUs",
                  "The request is larger than the largest pool of this name, so the pod would "
                  "wait for ever.",
                  "request fewer CPUs or enlarge the pool"},
    AdmissionCode{"RES004", "the container's own cpu limit is lower than its pools",
                  "A warning only: the limit is kept, so the container may be throttled on CPUs "
                  "that are its own.",
                  "remove the cpu limit; the webhook sets one that fits"},
    AdmissionCode{"VOL001", "a volume or mount is in the way",
                  "Pinned containers need volumes podinfo and hostbin, mounted at /etc/podinfo and "
                  "at the starter's path; the pod has something else there.",
                  "give that volume another name, or mount it elsewhere"},
};

}  // namespace

std::vector<CodeText> code_texts() {
  std::vector<CodeText> out;
  for (const ErrorEntry& error : error_table())
    out.push_back({code_name(error.code), error.title, error.meaning, error.remedy});
  for (const AdmissionCode& code : kAdmissionCodes)
    out.push_back({std::string(code.code), code.title, code.meaning, code.remedy});
  return out;
}

}  // namespace plim::cli
