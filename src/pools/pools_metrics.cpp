#include "pools/pools_metrics.hpp"

#include "pools/packing.hpp"
#include "pools/pool_view.hpp"

namespace plim::pools {

PoolsMetrics::PoolsMetrics(metrics::Registry& registry, const PoolState& state)
    : apply_seconds(
          registry.histogram("plimsoll_pools_apply_seconds",
                             "Time from the first sight of a container until its CPUs are set.",
                             metrics::spread_bounds(0.001, 13))),
      allocate_seconds(registry.histogram("plimsoll_pools_allocate_seconds",
                                          "Time to answer the kubelet's Allocate.",
                                          metrics::spread_bounds(0.000'01, 16))),
      drift(registry.counter("plimsoll_pools_drift_total",
                             "Cpusets of containers that another program had changed.")),
      config_valid(registry.gauge("plimsoll_pools_config_valid",
                                  "1 while the configuration files have no mistakes.")),
      registry_(registry),
      state_(state),
      collector_(registry.add_collector([this](metrics::Exposition& out) { collect(out); })) {}

void PoolsMetrics::count_registration(const std::string& pool, bool good) {
  registry_
      .counter("plimsoll_pools_registrations_total", "Registrations with the kubelet.",
               {{"pool", pool}, {"result", good ? "success" : "error"}})
      .add();
}

void PoolsMetrics::count_write(bool good) {
  registry_
      .counter("plimsoll_pools_cpuset_writes_total", "Cpusets of containers written.",
               {{"result", good ? "success" : "error"}})
      .add();
}

void PoolsMetrics::collect(metrics::Exposition& out) const {
  auto cpus = out.family("plimsoll_pools_cpus", "CPUs of pools by state.", metrics::Type::gauge);
  auto millis = out.family("plimsoll_pools_shared_millis", "Thousandths of CPUs of shared pools.",
                           metrics::Type::gauge);
  auto fragmentation =
      out.family("plimsoll_pools_fragmentation_ratio",
                 "Share of the free CPUs that are not on one NUMA node.", metrics::Type::gauge);
  for (const PoolView& view : view_pools(state_)) {
    const std::string type(type_name(view.type));
    if (view.type == PoolType::exclusive) {
      for (CpuState state : {CpuState::free, CpuState::used, CpuState::draining, CpuState::withheld,
                             CpuState::offline})
        cpus.sample(
            {{"pool", view.name}, {"state", std::string(state_name(state))}, {"type", type}},
            view.by_state.at(state).count());
      fragmentation.sample({{"pool", view.name}}, view.fragmentation);
    } else {
      cpus.sample({{"pool", view.name}, {"state", "online"}, {"type", type}}, view.usable.count());
      cpus.sample({{"pool", view.name}, {"state", "offline"}, {"type", type}},
                  (view.cpus - state_.topology().online).count());
    }
    if (view.type == PoolType::shared) {
      millis.sample({{"pool", view.name}, {"state", "used"}}, view.millis_used);
      millis.sample({{"pool", view.name}, {"state", "free"}},
                    std::max(0, view.millis - view.millis_used));
    }
  }
}

}  // namespace plim::pools
