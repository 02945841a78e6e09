#include "local/kubelet/nodes/usage_sampler.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/rfc3339.hpp"
#include "kube/paths.hpp"
#include "local/kubelet/nodes/pod_limits.hpp"
#include "node/process_usage.hpp"

namespace plim::local::kubelet {
namespace {

std::optional<WallTime> time_at(const json::value& value, kube::TimePath path) {
  auto time = parse_rfc3339(kube::text_at(value, path));
  return time ? std::optional(*time) : std::nullopt;
}

void add(CgroupUsage& sum, const CgroupUsage& part) {
  sum.cpu_ns += part.cpu_ns;
  sum.memory_bytes += part.memory_bytes;
  sum.working_set_bytes += part.working_set_bytes;
  sum.rss_bytes += part.rss_bytes;
  sum.periods += part.periods;
  sum.throttled_periods += part.throttled_periods;
  sum.throttled_ns += part.throttled_ns;
  sum.oom_kills += part.oom_kills;
}

}  // namespace

const node::NodeUsage& UsageSampler::sample() {
  ++samples_;
  node::NodeUsage now{.at = clock_.wall(), .used = {.cpu_ns = last_.used.cpu_ns}};
  for (const json::value& pod : pods_.pods()) {
    node::PodUsage used = read_pod(pod);
    if (used.containers.empty()) continue;
    // The node's counter must not decrease when a pod ends, so it adds the increase of each pod.
    const auto before = std::ranges::find(last_.pods, used.uid,
                                          [](const node::PodUsage& other) { return other.uid; });
    const std::uint64_t old = before == last_.pods.end() ? 0 : before->used.cpu_ns;
    CgroupUsage counted = used.used;
    counted.cpu_ns -= std::min(counted.cpu_ns, old);
    add(now.used, counted);
    now.nano_cores += used.nano_cores;
    now.pods.push_back(std::move(used));
  }
  std::erase_if(histories_, [this](const auto& entry) { return entry.second.seen != samples_; });
  last_ = std::move(now);
  return last_;
}

node::PodUsage UsageSampler::read_pod(const json::value& pod) {
  node::PodUsage out{.ns = std::string(kube::text_at(pod, "Pod.metadata.namespace")),
                     .name = std::string(kube::text_at(pod, "Pod.metadata.name")),
                     .uid = std::string(kube::text_at(pod, "Pod.metadata.uid")),
                     .started = time_at(pod, "Pod.status.startTime")};
  out.cgroup = fmt::format("{}/{}", cgroups_.root(),
                           node::pod_cgroup(cgroups_.driver(), qos_of(pod), out.uid));
  CgroupUsage sum;
  for (kube::ListPath list : {kube::ListPath("Pod.status.initContainerStatuses"),
                              kube::ListPath("Pod.status.containerStatuses")}) {
    for (const json::value& status : kube::list_at(pod, list)) {
      if (!kube::find(status, "ContainerStatus.state.running")) continue;
      out.containers.push_back(read_container(pod, status));
      add(sum, out.containers.back().used);
    }
  }
  // The pod's own cgroup also includes the usage of ended containers.
  out.used = cgroups_.usage(pod, "").value_or(sum);
  out.nano_cores = rate(out.uid, out.used.cpu_ns, out.started);
  return out;
}

node::ContainerUsage UsageSampler::read_container(const json::value& pod,
                                                  const json::value& status) {
  const std::string_view id = kube::text_at(status, "ContainerStatus.containerID");
  const std::size_t scheme = id.find("://");
  node::ContainerUsage out{.name = std::string(kube::text_at(status, "ContainerStatus.name")),
                           .id = std::string(scheme == id.npos ? id : id.substr(scheme + 3)),
                           .image = std::string(kube::text_at(status, "ContainerStatus.image")),
                           .started = time_at(status, "ContainerStatus.state.running.startedAt")};
  const std::string uid(kube::text_at(pod, "Pod.metadata.uid"));
  if (auto used = cgroups_.usage(pod, out.id); used && !out.id.empty()) {
    out.used = *used;
  } else {
    out.used = node::processes_usage(pods_.processes(uid, out.name));
  }
  out.nano_cores =
      rate(fmt::format("{}/{}/{}", uid, out.name, out.id), out.used.cpu_ns, out.started);
  return out;
}

std::uint64_t UsageSampler::rate(const std::string& key, std::uint64_t cpu_ns,
                                 std::optional<WallTime> started) {
  const SteadyTime now = clock_.steady();
  auto [place, added] = histories_.try_emplace(key);
  History& history = place->second;
  if (added) {
    // The first window begins with the start of the process.
    const Nanos age = started ? std::max(Nanos::zero(), clock_.wall() - *started) : Nanos::zero();
    history.window_start = {now - age, 0};
    history.newest = {now, cpu_ns};
  } else if (now - history.newest.at >= kWindow) {
    history.window_start = history.newest;
    history.newest = {now, cpu_ns};
  }
  history.seen = samples_;
  const double seconds = std::chrono::duration<double>(now - history.window_start.at).count();
  if (seconds <= 0 || cpu_ns < history.window_start.cpu_ns) return 0;
  return static_cast<std::uint64_t>(static_cast<double>(cpu_ns - history.window_start.cpu_ns) /
                                    seconds);
}

}  // namespace plim::local::kubelet
