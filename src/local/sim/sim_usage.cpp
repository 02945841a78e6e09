#include "local/sim/sim_usage.hpp"

#include <algorithm>
#include <utility>

#include "local/sim/sim_pod.hpp"

namespace plim::local::sim {
namespace {

node::PodUsage usage_of(const kube::Pod& pod, WallTime now) {
  const SimWish wish = wish_of(pod);
  node::PodUsage out{.ns = std::string(pod.meta.ns.view()),
                     .name = pod.meta.name,
                     .uid = pod.meta.uid,
                     .started = pod.status.started};
  out.nano_cores = static_cast<std::uint64_t>(wish.milli_cpu) * 1'000'000;
  const Nanos age = pod.status.started ? now - *pod.status.started : Nanos::zero();
  const double seconds = std::max(0.0, std::chrono::duration<double>(age).count());
  out.used.cpu_ns = static_cast<std::uint64_t>(seconds * static_cast<double>(out.nano_cores));
  out.used.memory_bytes = out.used.working_set_bytes = out.used.rss_bytes =
      static_cast<std::uint64_t>(wish.memory_bytes);
  if (pod.spec.containers.empty()) return out;
  // All usage goes to the first container: a simulation does not have to divide it.
  node::ContainerUsage first{.name = std::string(pod.spec.containers[0].name.view()),
                             .id = "",
                             .image = std::string(pod.spec.containers[0].image.view()),
                             .started = out.started,
                             .used = out.used,
                             .nano_cores = out.nano_cores};
  out.containers.push_back(std::move(first));
  return out;
}

}  // namespace

node::NodeUsage pretended_usage(const std::vector<std::shared_ptr<const kube::Pod>>& pods,
                                WallTime now) {
  node::NodeUsage out{.at = now};
  for (const auto& pod : pods) {
    if (pod->status.phase.view() != "Running") continue;
    node::PodUsage used = usage_of(*pod, now);
    out.nano_cores += used.nano_cores;
    out.used.cpu_ns += used.used.cpu_ns;
    out.used.memory_bytes += used.used.memory_bytes;
    out.used.working_set_bytes += used.used.working_set_bytes;
    out.used.rss_bytes += used.used.rss_bytes;
    out.pods.push_back(std::move(used));
  }
  return out;
}

}  // namespace plim::local::sim
