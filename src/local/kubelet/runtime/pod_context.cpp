#include "local/kubelet/runtime/pod_context.hpp"

#include <sched.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>

#include "base/log.hpp"
#include "kube/object.hpp"
#include "kube/paths.hpp"

namespace plim::local::kubelet {

std::string PodContext::pod_directory(std::string_view uid) const {
  return fmt::format("{}/{}/pods/{}", options.state_dir, options.name, uid);
}

VolumeRoots PodContext::volume_roots(std::string_view uid) const {
  return {.pod = pod_directory(uid),
          .claims = options.state_dir + "/claims",
          .kubelet = options.kubelet_dir,
          .host = fmt::format("{}/{}/host", options.state_dir, options.name)};
}

PodPlace PodContext::place(std::string pod_ip) const {
  const json::value object = node();
  const auto amount = [&](kube::TextPath name) {
    return parse_quantity(kube::text_at(object, name)).value_or(Quantity());
  };
  return {.node = options.name,
          .host_ip = addresses.node(),
          .pod_ip = std::move(pod_ip),
          .cpu = amount("Node.status.allocatable.cpu"),
          .memory = amount("Node.status.allocatable.memory")};
}

Task<void> remove_cgroup(NodeCgroups* cgroups, json::value pod) {
  constexpr int kTries = 100;
  for (int i = 0; i < kTries; ++i) {
    cgroups->kill(pod, "");
    const auto removed = cgroups->remove_pod(pod);
    if (removed) co_return;
    if (removed.error().code != Code::conflict || i + 1 == kTries) {
      log::warn("node", "cannot remove a pod's cgroup",
                {{"pod", kube::key_of(pod)}, {"error", removed.error()}});
      co_return;
    }
    // The end of a process takes real time, not the time of the node's clock.
    co_await system_clock().sleep(std::chrono::milliseconds(10));
  }
}

bool can_isolate() {
  if (::geteuid() != 0) return false;
  const pid_t pid = ::fork();
  if (pid < 0) return false;
  if (pid == 0) {
    const bool fine = ::unshare(CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWIPC | CLONE_NEWUTS) == 0 &&
                      ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0;
    ::_exit(fine ? 0 : 1);
  }
  int status = 0;
  ::waitpid(pid, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace plim::local::kubelet
