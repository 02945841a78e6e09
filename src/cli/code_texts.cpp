#include "cli/code_texts.hpp"

#include <array>

#include "cli/failures.hpp"

namespace plim::cli {
namespace {

struct AdmissionCode {
  std::string_view code, title, meaning, remedy;
};

constexpr std::array kAdmissionCodes{
    AdmissionCode{"ANN001", "invalid annotation",
                  "The annotation is not JSON or not a list, a member has the wrong type or exists "
                  "twice, or cpus is not a whole number.",
                  "correct the place in the message"},
    AdmissionCode{"ANN002", "an element of the annotation names no container",
                  "Every element must have the member container.",
                  "add the name of a container of the pod"},
    AdmissionCode{"ANN003", "a container of the annotation has no processes",
                  "An element lists the processes that the container starts.",
                  "list its processes, or remove the container"},
    AdmissionCode{"ANN004", "a process of the annotation has no program",
                  "process is the program to start: a path, or a name in PATH.",
                  "set process to the program"},
    AdmissionCode{"ANN005", "a process of the annotation has no CPUs",
                  "cpus is missing or below one. It is whole CPUs of an exclusive pool or "
                  "thousandths of a shared pool.",
                  "set cpus to the amount that the process gets from the pool"},
    AdmissionCode{"ANN006", "a process of the annotation has no pool",
                  "pool is the name of a pool, without the part before the slash.",
                  "set pool to a pool that the container requests"},
    AdmissionCode{"ANN007", "a process of the annotation has no args",
                  "This is only a warning: the process starts without arguments.",
                  "write \"args\": [] if that is intended"},
    AdmissionCode{"ANN008", "the annotation names a container twice",
                  "The webhook does not know which of the two lists of processes to use.",
                  "put all its processes into one element"},
    AdmissionCode{
        "ANN009", "the annotation names a container without pools",
        "The pod has no container with that name, or the container does not request a pool.",
        "correct the name, which is case-sensitive, or add the pool to its limits"},
    AdmissionCode{"ANN010", "a process uses a pool that its container does not request",
                  "A container gets only the pools in its resources.limits.",
                  "add the pool to the limits of the container, or use another pool"},
    AdmissionCode{"ANN011", "processes do not add up to the shared CPUs requested",
                  "For each shared pool the sum of cpus of all processes must equal the request of "
                  "the container.",
                  "change the request or the cpus of a process"},
    AdmissionCode{"ANN012", "processes need more exclusive CPUs than requested",
                  "All processes together may use the CPUs that the container requests; if a pool "
                  "assigns whole cores, every thread of them.",
                  "request more CPUs of the pool, or give the processes fewer"},
    AdmissionCode{"ANN013", "the annotation pins nothing",
                  "The annotation exists, but names no container.",
                  "remove it, or list the processes to start"},
    AdmissionCode{"ANN014", "the annotation is too large",
                  "The limits are 64 containers with 256 processes each, and 256 KiB.",
                  "start helpers from your own programs"},
    AdmissionCode{"ANN015", "the annotation of a running pod cannot be changed",
                  "A container reads the annotation again when it restarts, and would start "
                  "something that was not admitted.",
                  "create a new pod"},
    AdmissionCode{"RES001", "a pool request is not a whole number",
                  "Requests are CPUs of exclusive pools and thousandths of a CPU of shared pools. "
                  "Fractions and negative amounts are invalid.",
                  "request a whole number: 250 of a shared pool is a quarter of a CPU"},
    AdmissionCode{"RES002", "unknown pool",
                  "No pool file of the webhook has a pool with this name. --unknown-pool decides "
                  "whether the webhook warns, rejects the pod or accepts it.",
                  "correct the name; plimsoll pools shows the pools of a node"},
    AdmissionCode{"RES003", "no node has a pool of this size",
                  "The request of a container, or of all containers of the pod together, is larger "
                  "than the largest pool with this name, so the pod would wait forever. A shared "
                  "pool offers 1000 for each of its CPUs.",
                  "request fewer CPUs or enlarge the pool"},
    AdmissionCode{"RES004", "the container's own cpu limit is lower than its pools",
                  "This is only a warning: the limit stays, so the kernel may throttle the "
                  "container on its own CPUs.",
                  "remove the cpu limit; the webhook sets a suitable one"},
    AdmissionCode{
        "REV001", "the review has no pod",
        "The request to the webhook has no object, or an update has no oldObject, so there "
        "is nothing to check. API servers always send them.",
        "send the whole AdmissionReview; check proxies between API server and webhook"},
    AdmissionCode{
        "VOL001", "a volume or mount conflicts with the starter",
        "Pinned containers need the volumes podinfo and hostbin, mounted at /etc/podinfo and at "
        "the starter's path. The pod uses these names or paths for something else.",
        "rename that volume, or mount it at another path"},
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
