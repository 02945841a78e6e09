// The volumes of a pod as directories and files on this machine.
#pragma once

#include <string>
#include <string_view>
#include <sys/types.h>
#include <vector>

#include "base/json.hpp"
#include "base/result.hpp"
#include "local/kubelet/runtime/downward.hpp"
#include "local/kubelet/runtime/env.hpp"
#include "local/kubelet/runtime/pod_sources.hpp"
#include "local/kubelet/shim/shim_protocol.hpp"

namespace plim::local::kubelet {

struct VolumeFile {
  std::string path;  // below the volume
  std::string content;
  mode_t mode = 0644;

  bool operator==(const VolumeFile&) const = default;
};

// The files of a configMap, secret, downwardAPI or projected volume. Pure. Rejects paths that
// lead out of the volume.
Result<std::vector<VolumeFile>> volume_files(const json::value& pod, const json::value& volume,
                                             const PodPlace& place, const PodSources& sources);

// The directories of volumes.
struct VolumeRoots {
  std::string pod;           // this pod's directory, with volumes/NAME
  std::string claims;        // persistent volumes, with NAMESPACE/CLAIM
  std::string kubelet = {};  // the node's kubelet directory; "": that of the machine
  std::string host = {};     // files that daemons install on the node; "": on the machine
};

// Where a hostPath is on this machine. All local nodes share the machine, so each node has its own
// /var/lib/kubelet, /run/plimsoll, /run/containerd and /opt/bin. A program that is not in the
// node's /opt/bin is that of the machine. A file that was copied to the node is the copy.
std::string host_path(std::string_view path, const VolumeRoots& roots);

std::string volume_path(const json::value& pod, const json::value& volume,
                        const VolumeRoots& roots);
// Creates all volumes of the pod; succeeds if they exist. The error is the message that a kubelet
// reports with FailedMount.
Result<void> make_volumes(const json::value& pod, const PodPlace& place, const PodSources& sources,
                          const VolumeRoots& roots);
// Removes the parts that are outside the pod's directory.
void remove_volumes(const json::value& pod);
Result<std::vector<ShimMount>> container_mounts(const json::value& pod,
                                                const json::value& container,
                                                const VolumeRoots& roots,
                                                const Environment& environment);

}  // namespace plim::local::kubelet
