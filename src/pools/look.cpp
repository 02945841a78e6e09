#include "pools/look.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "pools/kubelet_records.hpp"
#include "pools/node_view.hpp"
#include "pools/pool_view.hpp"

namespace plim::pools {

Task<Result<json::value>> look_at_pools(LookOptions options, const Clock& clock) {
  Executor loop = co_await current_loop();
  PLIM_CO_TRY(Topology topology, read_topology(options.host_root));
  PLIM_CO_TRY(auto texts, read_config_texts(options.config));
  const auto tree = CpusetTree::open(
      {.host_root = options.host_root, .cgroup_root = options.cgroup_root, .pods = {}});
  const CpuSet usable = tree ? tree->usable() : CpuSet();
  Problems problems;
  auto pools = load_node_pools(texts, options.labels, topology, usable, problems);
  if (!pools) co_return fail(Code::invalid, fmt::format("{}", fmt::join(problems.errors, "\n")));
  PoolState state;
  state.configure(std::move(*pools), std::move(topology));
  KubeletRecords records(loop, options.kubelet_dir);
  const auto answer = co_await records.look();
  const SteadyTime now = clock.steady();
  std::vector<ContainerCgroup> cgroups;
  if (tree) cgroups = tree->scan();
  // Without the API only the kubelet's answer identifies pods.
  if (answer) state.set_holdings(holdings_of(*answer, {}, cgroups, state.base_names()), now);
  state.clear({});
  json::value out = describe_pools(state, options.node_name,
                                   foreign_processes(options.host_root, state.exclusive_members()));
  const std::string policy = co_await records.cpu_manager_policy();
  out.get_object()["cpuManagerPolicy"] = policy;
  if (!answer) out.get_object()["reason"] = answer.error().message;
  co_return out;
}

}  // namespace plim::pools
